// Browsers start no worker for a page that is opened from a file, so a hidden frame runs the search there.
if (location.protocol === "file:") {
  window.IFrameWorker = class extends EventTarget {
    constructor(address) {
      super()
      this.waiting = []
      this.frame = document.createElement("iframe")
      this.frame.hidden = true
      document.documentElement.append(this.frame)
      const inner = this.frame.contentWindow
      inner.document.open()
      inner.document.write("<!doctype html><html><head></head><body></body></html>")
      inner.document.close()
      inner.postMessage = data => this.dispatchEvent(new MessageEvent("message", { data }))
      const script = inner.document.createElement("script")
      script.src = address
      script.addEventListener("load", () => {
        this.isReady = true
        this.waiting.splice(0).forEach(data => this.postMessage(data))
      })
      inner.document.body.append(script)
    }

    postMessage(data) {
      const inner = this.frame.contentWindow
      if (this.isReady) inner.dispatchEvent(new inner.MessageEvent("message", { data }))
      else this.waiting.push(data)
    }

    terminate() {
      this.frame.remove()
    }
  }
  window.Worker = window.IFrameWorker
}
