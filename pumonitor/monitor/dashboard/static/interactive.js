// The chart of a monitor's page, to be moved and looked into. The drawing of the server stays until
// this one stands, and where it cannot be made. Vega's expressions are interpreted, never compiled,
// as the policy of these pages forbids to evaluate strings.
"use strict";

(() => {
  const drawing = document.getElementById("drawing");
  const tip = document.getElementById("chart-tip");
  const buttons = document.getElementById("chart-buttons");
  const specification = JSON.parse(document.getElementById("chart-specification").textContent);
  const place = document.createElement("div");
  place.className = "interactive";
  let view = null;

  function config() {
    const style = getComputedStyle(document.documentElement);
    const colour = (name) => style.getPropertyValue(`--${name}`).trim();
    const text = { font: getComputedStyle(document.body).fontFamily, fontSize: 12 };
    return {
      background: "transparent",
      padding: { left: 4, right: 14, top: 6, bottom: 4 },
      view: { stroke: null, cursor: "grab" },
      axis: {
        labelColor: colour("muted"), labelFont: text.font, labelFontSize: text.fontSize,
        gridColor: colour("grid"), domainColor: colour("axis"), tickColor: colour("axis"),
      },
      axisY: { domain: false, ticks: false },
      style: {
        reference: { color: colour("reference"), opacity: 1 },
        said: { ...text, color: colour("muted") },
        number: { ...text, color: colour("ink") },
        band: { color: colour("band"), opacity: 1 },
        "expected-band": { color: colour("expected"), opacity: 1 },
        limit: { color: colour("critical"), strokeDash: [7, 4] },
        mark: { color: colour("warning"), strokeDash: [2, 3] },
        alert: { color: colour("critical") },
        line: { color: colour("corrected"), strokeWidth: 2 },
        "expected-line": { color: colour("muted"), strokeWidth: 2, strokeDash: [5, 4] },
        dot: { filled: true, color: colour("corrected"), size: 30, opacity: 1 },
        "provisional-dot": { fill: colour("card"), color: colour("corrected"), strokeWidth: 2, size: 38, opacity: 1 },
        column: { color: colour("corrected") },
      },
    };
  }

  function showTip(_, event, item, said) {
    tip.hidden = !said;
    if (!said) return;
    tip.textContent = said;
    const { width, height } = tip.getBoundingClientRect();
    const far = event.clientX + 16 + width > document.documentElement.clientWidth;
    const left = far ? event.clientX - 16 - width : event.clientX + 16;
    tip.style.left = `${Math.max(4, left)}px`;
    tip.style.top = `${Math.max(4, event.clientY - height - 12)}px`;
  }

  // What moves a chart is no click on a window.
  function openWindows(made) {
    let pressed = null;
    made.addEventListener("pointerdown", (event) => { pressed = [event.clientX, event.clientY]; });
    made.addEventListener("click", (event, item) => {
      const moved = pressed && Math.hypot(event.clientX - pressed[0], event.clientY - pressed[1]) > 4;
      const link = item && item.datum && item.datum.link;
      if (link && !moved) window.location.assign(link);
    });
  }

  async function draw() {
    const from = view && view.scale("x").domain().map(Number);
    if (view) view.finalize();
    const { View, Warn, compile, expressionInterpreter, parse } = pumonitorVega;
    const { spec } = compile(specification, { config: config() });
    view = new View(parse(spec, null, { ast: true }), {
      container: place, expr: expressionInterpreter, hover: true, logLevel: Warn, renderer: "canvas", tooltip: showTip,
    });
    openWindows(view);
    await view.runAsync();
    // Vega adds a form for controls of its own, of which there are none.
    for (const form of place.querySelectorAll("form")) form.remove();
    if (from) await show(from);
  }

  function show(period) {
    return view.signal("grid_start", period).runAsync();
  }

  function press(event) {
    const by = event.target.dataset;
    const [from, to] = view.scale("x").domain().map(Number);
    const middle = (from + to) / 2 + Number(by.by || 0) * (to - from);
    const half = (Number(by.times || 1) * (to - from)) / 2;
    show("whole" in by ? null : [middle - half, middle + half]);
  }

  async function begin() {
    drawing.append(place);
    try {
      await draw();
    } catch (error) {
      place.remove();
      throw error;
    }
    drawing.querySelector("svg").setAttribute("hidden", "");
    buttons.hidden = false;
    buttons.addEventListener("click", (event) => { if (event.target.matches("button")) press(event); });
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
  }

  begin();
})();
