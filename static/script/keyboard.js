// Keyboard shortcuts.

import { pickFirstChoice } from "./choices.js";
import { find, findAll, isTextInput } from "./dom.js";
import { openDialogs } from "./questions.js";
import { browserStorage } from "./storage.js";
import { timeline } from "./timeline.js";

/** pressSubmit presses the form's primary button, if there is exactly one. */
function pressSubmit(event) {
  const form = event.target.closest?.("form.sheet, dialog.ask");
  const buttons = form ? findAll("button.primary", form) : [];
  if (!form || buttons.length !== 1) return;
  if (find(".nothing", form)) return; // a confirmation needs a deliberate click
  event.preventDefault();
  buttons[0].click();
}

/** navigationTargets returns the elements that j and k move through. */
function navigationTargets() {
  if (openDialogs().length > 1) return openDialogs().map((d) => find("h2", d));
  if (timeline()) return [...findAll(".row", timeline()).filter((r) => r.offsetParent), ...openDialogs().map((d) => find("h2", d))];
  return findAll(".cards > li:not([hidden]) :is(h2, h3) a, .list > li a.button, .runs .list > li > a");
}

function moveFocus(by) {
  const list = navigationTargets();
  const now = document.activeElement;
  let at = list.findIndex((e) => e === now || e.contains(now) || e.closest("dialog, .list > li")?.contains(now));
  at = at < 0 ? (by > 0 ? 0 : list.length - 1) : at + by;
  const next = list[at];
  if (!next) return;
  if (!next.matches("a, button, [tabindex]")) next.tabIndex = -1;
  next.focus({ preventScroll: true });
  next.scrollIntoView({ block: "nearest" });
}

const showShortcuts = () => find("#keys")?.showModal();
const goTargets = { h: ".top .brand", r: "#nav h2 a", i: "#inbox" }; // links
const shortcuts = {
  "/": () => find("#find")?.focus(),
  "?": showShortcuts,
  j: () => moveFocus(1),
  k: () => moveFocus(-1),
  s: () => {
    if (!find(".run-head .stop")) return;
    find("#stop-dialog")?.showModal();
    find("#stop-dialog .cancel-stop")?.focus();
  },
};
let goPressedAt = 0;

document.addEventListener("keydown", (event) => {
  const { key, target } = event;
  if (key === "Enter" && target.matches?.(".choice-filter")) {
    event.preventDefault();
    return event.ctrlKey || event.metaKey ? pressSubmit(event) : pickFirstChoice(target);
  }
  if (key === "Escape" && target.matches?.(".choice-filter") && target.value) {
    event.stopPropagation(); // clear the filter and keep the question open
    return;
  }
  if (key === "Enter" && (event.ctrlKey || event.metaKey)) return pressSubmit(event);
  if (event.ctrlKey || event.metaKey || event.altKey || event.repeat && !"jk".includes(key)) return;
  if (isTextInput(target) || find("dialog.modal[open]") || browserStorage.get("beam:keys") === false) return;
  const to = Date.now() - goPressedAt < 1500 && goTargets[key];
  goPressedAt = key === "g" ? Date.now() : 0;
  if (to) find(to)?.click();
  else if (Object.hasOwn(shortcuts, key)) {
    event.preventDefault();
    shortcuts[key]();
  }
}, true);

export function initShortcuts() {
  find("#show-keys")?.addEventListener("click", showShortcuts);
  const on = find("#keys-on");
  if (on) {
    on.checked = browserStorage.get("beam:keys") !== false;
    on.addEventListener("change", () => browserStorage.set("beam:keys", on.checked));
  }
  find("#stop-dialog")?.addEventListener("close", (event) => {
    if (event.target.returnValue === "stop") find(".run-head .stop")?.click();
    event.target.returnValue = "";
  });
}
