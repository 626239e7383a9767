// Questions: where the focus goes when one appears or is closed, and a note for a question
// that was closed elsewhere.

import { announce, createElement, find, findAll, isTextInput } from "./dom.js";
import { enteredList, markSubmitted, restoreDraft, takeClosedDrafts, takeTexts } from "./drafts.js";
import { abortUpload } from "./uploads.js";

const seenQuestions = new Map(); // id → what the question was like
const answered = new Map(); // id → what a question was like that was closed while this page sent an answer, and its texts
const submittedAt = new Map(); // id → when this page submitted an answer
const previousFocus = new Map(); // id → the element that had the focus before
let stopping = false;

const questionDialogs = () => findAll("dialog.ask:not(.closed)");
export const openDialogs = () => questionDialogs().filter((d) => d.open);

const controls = (field) => findAll("input:not([type=hidden]), select, textarea", field).filter((e) => !e.disabled);

/** needsAnswer reports whether a field is required and empty. */
function needsAnswer(field) {
  if (!find("[required], .required", field)) return false;
  const list = controls(field).filter((e) => !e.matches(".choice-filter"));
  return list.every((e) => (e.matches("[type=checkbox], [type=radio]") ? !e.checked : !e.value));
}

/**
 * firstControl returns the element of a question to focus: that of the first field that
 * needs an answer, else of the first field, or the heading if it is a confirmation.
 */
function firstControl(dialog) {
  const heading = find("h2", dialog);
  if (dialog.matches(".approval")) return heading; // a request is read before it is approved
  if (!matchMedia("(pointer: fine)").matches) return heading; // on touch screens, focusing a field would open the keyboard
  const fields = findAll(".field", dialog).filter((f) => controls(f).length);
  const field = fields.find(needsAnswer) ?? fields[0];
  return field ? (find("input[type=radio]:checked", field) ?? controls(field)[0]) : heading;
}

/**
 * focusDialog focuses a question and shows its top, and as much below it as there is room for.
 * A control that isn't in sight then doesn't get the focus: the heading does.
 */
function focusDialog(dialog) {
  firstControl(dialog)?.focus({ preventScroll: true });
  dialog.scrollIntoView({ block: "nearest" });
  find(".from", dialog)?.scrollIntoView({ block: "nearest" });
  if (!isInSight(document.activeElement)) find("h2", dialog)?.focus({ preventScroll: true });
}

/** isInSight reports whether the middle of a control is in the window, and nothing covers it. */
function isInSight(control) {
  const { left, top, width, height } = control.getBoundingClientRect();
  return control.contains(document.elementFromPoint(left + width / 2, top + height / 2));
}

/** focusNewQuestion focuses a new question, unless the person is busy elsewhere. */
function focusNewQuestion(dialog) {
  const now = document.activeElement;
  if (isTextInput(now) || now?.closest("dialog") && now !== dialog || find("dialog.modal[open]")) return;
  const isPlace = now && now !== dialog && now !== document.body && now !== find("#main"); // main only has it for want of a place
  if (isPlace) previousFocus.set(dialog.id, now);
  focusDialog(dialog);
}

/** focusNextListed focuses the question of the inbox that is where a closed one was, or the page's heading after the last. */
function focusNextListed(place) {
  const all = findAll(".inbox-list h2 a"), next = all[Math.min(place, all.length - 1)] ?? find("h1");
  if (next.matches("h1")) next.tabIndex = -1;
  next.focus();
  announce(all.length ? `The next question is: ${next.textContent}` : find("#list .empty").textContent.trim());
}

/** restoreFocus focuses the next question, or what had the focus before. */
function restoreFocus(id, { place = -1 } = {}) {
  const now = document.activeElement;
  if (now && now !== document.body) return;
  if (place >= 0) return focusNextListed(place);
  const back = previousFocus.get(id);
  const next = openDialogs()[0];
  if (next) {
    previousFocus.set(next.id, back);
    focusDialog(next);
  } else if (back?.isConnected) back.focus({ preventScroll: true });
  else find("#main")?.focus({ preventScroll: true });
}

/** handleRemovedQuestion handles a question that was removed from the page. */
function handleRemovedQuestion(id, was) {
  const texts = takeTexts(id);
  // This page's answer may have been too late.
  const how = readOutcome(id);
  const late = document.getElementById(id) || (how && !how.includes("in the browser"));
  const own = stopping || (Date.now() - (submittedAt.get(id) ?? 0) < 15_000 && !late);
  submittedAt.delete(id);
  if (!own) showClosedNote(id, was, texts);
  else {
    answered.set(id, { was, texts });
    if (was.focused) restoreFocus(id, was);
  }
  previousFocus.delete(id);
  abortUpload(id);
}

const findRow = (id) => document.getElementById(`e-${id.split("-").pop()}`);

/** readOutcome returns the outcome that the question's row shows, if any. */
const readOutcome = (id) => {
  const row = findRow(id);
  return row && find(".outcome", row)?.textContent.trim();
};

/** showClosedNote says how a question was closed, and shows the texts that were entered. */
function showClosedNote(id, was, texts, reason) {
  const row = findRow(id), late = document.getElementById(id), dock = find("#asks"), inbox = find("body.asks #list");
  if (late?.matches(".alone-ask > *") && texts.length) late.after(enteredList(texts));
  if (!(row && dock) && !inbox) return;
  const how = (readOutcome(id) ?? "closed").replace("in the browser", "on another page");
  const sentence = reason ?? (late && find(".reason", late)?.textContent) ?? (how.startsWith("expired") ? `This question ${how}.` : `This question was ${how}.`);
  late?.remove();
  const note = createElement("div", "closed-note");
  note.tabIndex = -1;
  const dismiss = createElement("button", "quiet small", "Close");
  dismiss.type = "button";
  dismiss.addEventListener("click", () => {
    note.remove();
    restoreFocus(id, was);
  });
  note.append(createElement("p", "question-text", row ? find(".question-text", row)?.textContent ?? "" : was.text), createElement("p", "reason", sentence), dismiss);
  if (texts.length) note.append(enteredList(texts));
  if (inbox) {
    const link = createElement("a", "", "Show what became of it");
    link.href = was.link;
    find(".reason", note).append(" ", link);
    inbox.before(note);
  } else dock.prepend(note);
  announce(`${sentence} ${note.firstChild.textContent}`);
  if (was.focused) note.focus({ preventScroll: true });
  else previousFocus.delete(id);
}

/** returnClosedDrafts shows the texts that were entered in questions which were closed before the page loaded. */
export function returnClosedDrafts() {
  for (const { id, texts } of takeClosedDrafts()) showClosedNote(id, {}, texts);
}

// The answer was too late, but the question was closed before that was known.
document.addEventListener("datastar-fetch", ({ detail: { type, el, argsRaw } }) => {
  const { id } = el.closest?.("dialog.ask") ?? {};
  if (!answered.has(id)) return;
  const { was, texts } = answered.get(id);
  const reason = type === "datastar-patch-elements" && find("dialog.closed .reason", new DOMParser().parseFromString(argsRaw.elements, "text/html"));
  if (reason) showClosedNote(id, was, texts, reason.textContent);
  if (reason || type === "finished") answered.delete(id);
});

/** syncQuestions handles questions that were added or removed. */
export function syncQuestions() {
  const now = new Map(questionDialogs().map((d) => [d.id, d]));
  for (const [id, was] of seenQuestions) {
    if (now.has(id)) continue;
    seenQuestions.delete(id);
    handleRemovedQuestion(id, was);
  }
  const added = [];
  for (const [id, dialog] of now) {
    if (find(".summary:not(.stale)", dialog) && submittedAt.delete(id)) markSubmitted(id, false); // the answer was refused, or not sent
    if (seenQuestions.has(id)) continue;
    seenQuestions.set(id, {});
    markSubmitted(id, false);
    restoreDraft(dialog);
    if (dialog.open) added.push(dialog);
  }
  const linked = added.find((d) => `#${d.id}` === location.hash); // as from the inbox
  for (const dialog of linked ? [linked] : added) focusNewQuestion(dialog);
  recordFocus();
}

// When the browser scrolls to the question that a link names, it moves the focus to all of it.
addEventListener("load", () => requestAnimationFrame(() => {
  const linked = location.hash && document.getElementById(location.hash.slice(1));
  if (linked && linked.matches("dialog.ask[open]") && [document.body, linked].includes(document.activeElement)) focusDialog(linked);
}));

function recordFocus() {
  const listed = findAll(".inbox-list > li");
  for (const d of questionDialogs()) {
    const place = listed.findIndex((li) => li.contains(d));
    seenQuestions.set(d.id, {
      open: d.open, focused: d.contains(document.activeElement), place, text: find("h2", d).textContent, link: listed[place] && find("h2 a", listed[place]).href,
    });
  }
}
document.addEventListener("focusin", recordFocus);

document.addEventListener("close", (event) => {
  const dialog = event.target;
  if (!dialog.matches?.("dialog.ask")) return;
  const back = previousFocus.get(dialog.id) ?? find(`a[href="#${dialog.id}"]`);
  if (!document.activeElement || document.activeElement === document.body || dialog.contains(document.activeElement)) {
    const next = openDialogs()[0];
    next ? focusDialog(next) : back?.focus({ preventScroll: true });
  }
  recordFocus();
}, true);

document.addEventListener("click", (event) => {
  const answer = event.target.closest?.('a[href^="#ask-"]');
  const dialog = answer && document.getElementById(answer.hash.slice(1));
  if (!dialog?.matches("dialog")) return;
  event.preventDefault();
  previousFocus.set(dialog.id, answer);
  setTimeout(() => dialog.open && focusDialog(dialog));
});

// On the window, before the listeners on the document, which may stop the event.
addEventListener("submit", (event) => {
  const dialog = event.target.closest("dialog.ask");
  if (dialog) {
    submittedAt.set(dialog.id, Date.now());
    markSubmitted(dialog.id, true);
    find(".summary", dialog)?.classList.add("stale"); // until the next refusal renders it again
  }
  if (event.target.closest(".run-head")) stopping = true;
}, true);
