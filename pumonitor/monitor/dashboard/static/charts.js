// What a drawing of the server says where it is pointed at: at once, in full, and by keyboard too.
// Without this script browsers show the same words by themselves, after a while.
"use strict";

(() => {
  const tip = document.createElement("p");
  tip.className = "tip";
  tip.setAttribute("role", "tooltip");
  tip.hidden = true;
  document.body.append(tip);

  for (const title of document.querySelectorAll("svg * > title")) {
    title.parentElement.dataset.text = title.textContent;
    title.remove();
  }

  function show(event) {
    const mark = event.target.closest("[data-text]");
    tip.hidden = !mark;
    if (!mark) return;
    tip.textContent = mark.dataset.text;
    const box = mark.getBoundingClientRect();
    const [x, y] = event.type === "focusin" ? [box.left, box.top + box.height / 2] : [event.clientX, event.clientY];
    const { width, height } = tip.getBoundingClientRect();
    const isFar = x + 16 + width > document.documentElement.clientWidth;
    tip.style.left = `${Math.max(4, isFar ? x - 16 - width : x + 16)}px`;
    tip.style.top = `${Math.max(4, y - height - 12)}px`;
  }

  const hide = () => { tip.hidden = true; };
  document.addEventListener("pointermove", show);
  document.addEventListener("focusin", show);
  document.addEventListener("focusout", hide);
  document.addEventListener("scroll", hide, { passive: true });
  document.documentElement.addEventListener("pointerleave", hide);
  document.addEventListener("keydown", (event) => { if (event.key === "Escape") hide(); });
})();
