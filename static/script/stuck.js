// What is stuck to an edge covers what is below it. Its height is measured, so that a focused
// control and the target of a link are scrolled to where nothing covers them.

import { findAll } from "./dom.js";

const root = document.documentElement;
const selectors = ".top, .run-top, #progress, #asks, dialog.ask > .actions";
const watched = new Set();

/** heightOf returns the height of what is stuck to an edge, of the elements that are in or outside of the dock. */
const heightOf = (edge, isCounted) =>
  [...watched].filter((e) => isCounted(e) && isStuck(e, edge)).reduce((sum, e) => sum + e.offsetHeight, 0);

function isStuck(e, edge) {
  const style = getComputedStyle(e);
  return e.offsetHeight > 0 && style.position === "sticky" && style[edge] !== "auto";
}

const isInDock = (e) => e.parentElement.closest("#asks") !== null;

function measure() {
  const set = (name, height) => root.style.setProperty(name, `${height}px`);
  root.classList.add("measured");
  set("--stuck-top", heightOf("top", (e) => e.matches(".top, .run-top")));
  set("--stuck-bottom", heightOf("bottom", (e) => !isInDock(e)));
  set("--stuck-dock", heightOf("bottom", isInDock));
}

/** measureStuck measures what is new on the page, or was removed. */
export function measureStuck() {
  const now = findAll(selectors);
  if (now.length === watched.size && now.every((e) => watched.has(e))) return;
  for (const e of watched) if (!e.isConnected && watched.delete(e)) sizes.unobserve(e);
  for (const e of now) if (!watched.has(e) && watched.add(e)) sizes.observe(e);
  measure();
}

const sizes = new ResizeObserver(measure);

// The window may have become too low to show the focused control where it was.
addEventListener("resize", () => {
  measure();
  const control = document.activeElement;
  if (control?.closest("dialog.ask") && !control.matches("h2")) control.scrollIntoView({ block: "nearest" });
});
