// What a form sends is sent once, when the person sends it. If that fails, the page says so,
// and what was entered stays.

import { createElement, find, findAll } from "./dom.js";
import { draftFields } from "./drafts.js";

const patience = 20_000; // milliseconds
const sending = new Map(); // form → what is known of its request

/** describeFailure says that what a form sent may not have arrived, and why. */
function describeFailure(form, dialog, { wasOnline, status }) {
  const kept = dialog && draftFields(dialog).length ? " Your draft is kept." : "";
  if (status) return `Beam didn’t accept this (status ${status}).${kept} Try again.`;
  if (wasOnline) return `Beam didn’t respond, so this may not have arrived.${kept} Try again.`;
  return `You’re offline: nothing was sent.${kept} Try again when you’re back online.`;
}

function showFailure(form, request) {
  const dialog = form.closest("dialog.ask");
  const note = createElement("p", "summary unsent", describeFailure(form, dialog, request));
  note.role = "alert";
  if (dialog) find(":scope > .actions", dialog).prepend(note); // which is always in sight
  else find("#run-head").after(note);
}

const handlers = {
  started(form) {
    for (const note of findAll(".unsent", form.closest("dialog, .run-top"))) note.remove();
    const request = { wasOnline: navigator.onLine, timer: 0 };
    sending.set(form, request);
    const controller = form["beam:request"]; // uploads have none, and show their progress
    if (controller) request.timer = setTimeout(() => {
      showFailure(form, request);
      controller.abort();
    }, patience);
  },
  error(form, request, { status }) {
    showFailure(form, { ...request, status });
  },
  "retries-failed": showFailure,
  finished(form, request) {
    clearTimeout(request.timer);
    sending.delete(form);
  },
};

document.addEventListener("datastar-fetch", ({ detail: { type, el, argsRaw } }) => {
  if (el.matches(".previewed") && ["error", "retries-failed"].includes(type)) {
    find(".preview", el.closest("form")).replaceChildren(createElement("p", "error", "Beam didn’t respond, so what would be sent can’t be shown."));
  }
  if (!el.matches('form[method="post"]') || type !== "started" && !sending.has(el)) return;
  if (Object.hasOwn(handlers, type)) handlers[type](el, sending.get(el), argsRaw);
});
