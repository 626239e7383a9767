// Drafts: the tab keeps what is entered in a question until the question is closed, except
// secrets and files. Whose answer is too late gets the texts back, to copy them.

import { createElement, findAll, isTextInput } from "./dom.js";
import { tabStorage } from "./storage.js";

const draftKey = (id) => `beam:draft:${id}`;
export const draftFields = (dialog) =>
  findAll("[id][name]", dialog).filter((e) => e.matches("input, select, textarea") && !["password", "file", "hidden", "submit"].includes(e.type));
const isCheckable = (e) => e.type === "checkbox" || e.type === "radio";
const isEntered = (e) => isTextInput(e) && !e.matches("select") && e.value.trim() && e.value !== e.defaultValue;
const labelOf = (e) => e.labels?.[0]?.textContent.trim() ?? "";

function saveDraft(dialog) {
  const fields = draftFields(dialog);
  tabStorage.set(draftKey(dialog.id), {
    values: Object.fromEntries(fields.map((e) => [e.id, isCheckable(e) ? e.checked : e.value])),
    texts: fields.filter(isEntered).map((e) => [labelOf(e), e.value]),
  });
}

export function restoreDraft(dialog) {
  const { values } = tabStorage.get(draftKey(dialog.id)) ?? {};
  if (!values) return;
  for (const e of draftFields(dialog)) {
    if (!Object.hasOwn(values, e.id)) continue;
    if (isCheckable(e)) e.checked = values[e.id] === true;
    else e.value = String(values[e.id]);
  }
}

/** markSubmitted records whether a draft was submitted: then it is no loss if its question is closed when a page loads. */
export function markSubmitted(id, submitted) {
  const draft = tabStorage.get(draftKey(id));
  if (draft) tabStorage.set(draftKey(id), { ...draft, submitted });
}

/** takeTexts removes a draft and returns its texts, each with its label. */
export function takeTexts(id) {
  const { texts = [] } = tabStorage.get(draftKey(id)) ?? {};
  tabStorage.drop(draftKey(id));
  return texts;
}

/** takeClosedDrafts removes the drafts of questions that this page shows as closed. It returns the texts of those that were not submitted. */
export function takeClosedDrafts() {
  const run = location.pathname.match(/\/runs\/([0-9a-f]+)$/)?.[1];
  const ids = tabStorage.keys().filter((key) => key.startsWith(draftKey("ask-"))).map((key) => key.slice(draftKey("").length));
  return ids.flatMap((id) => {
    const shown = document.getElementById(id);
    if (shown ? !shown.matches(".closed") : !run || !id.startsWith(`ask-${run}-`)) return [];
    const { submitted } = tabStorage.get(draftKey(id)) ?? {};
    const texts = takeTexts(id);
    return submitted || !texts.length ? [] : [{ id, texts }];
  });
}

/** enteredList shows texts, to be copied, as the server does for pages without script. */
export function enteredList(texts) {
  const list = createElement("section", "entered");
  list.ariaLabel = "What you had entered";
  list.append(createElement("p", "", "What you had entered wasn’t used:"));
  for (const [label, text] of texts) {
    const one = createElement("div", "copyable"), head = createElement("p", "json-head"), pre = createElement("pre", "", text);
    const copy = createElement("button", "quiet small js copy-text", "Copy");
    copy.type = "button";
    copy.append(createElement("span", "hidden", ` ${label}`));
    head.append(createElement("span", "", label), copy);
    pre.tabIndex = 0;
    one.append(head, pre);
    list.append(one);
  }
  return list;
}

document.addEventListener("input", (event) => {
  const dialog = event.target.closest?.("dialog.ask");
  if (dialog && !event.target.matches(".choice-filter")) saveDraft(dialog);
});
