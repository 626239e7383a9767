// Uploads show their progress and end with their question.

import { createElement, find } from "./dom.js";

const uploads = new Map(); // id → the request that sends its files

/** uploadFiles sends a question's files instead of Datastar, which reports no progress. */
function uploadFiles(event) {
  const form = event.target, dialog = form.closest?.("dialog.ask"), attribute = (name) => form.getAttribute(name); // a field may be called "action"
  if (!dialog || attribute("enctype") !== "multipart/form-data" || !attribute("id").endsWith("-form") || document.body.matches(".alone, .plain")) return;
  event.preventDefault();
  event.stopImmediatePropagation();
  if (uploads.has(dialog.id)) return;
  const bar = createElement("progress", "upload"), sending = find(".sending", dialog), request = new XMLHttpRequest();
  bar.ariaLabel = "Sent";
  find(".upload", dialog)?.remove();
  form.after(bar);
  uploads.set(dialog.id, request);
  const tell = (type, argsRaw = {}) => document.dispatchEvent(new CustomEvent("datastar-fetch", { detail: { type, el: form, argsRaw } })); // as Datastar does
  const end = (problem, about) => {
    uploads.delete(dialog.id);
    bar.remove();
    sending.textContent = "Sending …";
    if (problem) tell(problem, about);
    tell("finished");
  };
  tell("started");
  request.upload.onprogress = ({ loaded, total }) => {
    bar.max = total;
    bar.value = loaded;
    sending.textContent = `Sending … ${Math.floor((100 * loaded) / Math.max(total, 1))} %`;
  };
  request.onerror = () => end("retries-failed");
  request.onabort = () => end();
  request.onload = () => {
    const shown = request.status === 200 && request.getResponseHeader("Content-Type")?.startsWith("text/html");
    shown || request.status === 202 ? end() : end("error", { status: request.status });
    if (shown) tell("datastar-patch-elements", { elements: request.responseText });
  };
  request.open("POST", attribute("action"));
  request.setRequestHeader("Datastar-Request", "true");
  request.send(new FormData(form));
}
document.addEventListener("submit", uploadFiles, true);

export const abortUpload = (id) => uploads.get(id)?.abort();
