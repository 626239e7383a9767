// Drafts: the tab keeps what is typed in a question until the question is closed, except
// secrets and files.

import { findAll } from "./dom.js";
import { tabStorage } from "./storage.js";

const draftKey = (id) => `beam:draft:${id}`;
export const draftFields = (dialog) =>
  findAll("[id][name]", dialog).filter((e) => e.matches("input, select, textarea") && !["password", "file", "hidden", "submit"].includes(e.type));
const isCheckable = (e) => e.type === "checkbox" || e.type === "radio";

function saveDraft(dialog) {
  tabStorage.set(draftKey(dialog.id), Object.fromEntries(draftFields(dialog).map((e) => [e.id, isCheckable(e) ? e.checked : e.value])));
}

export function restoreDraft(dialog) {
  const draft = tabStorage.get(draftKey(dialog.id));
  if (!draft) return;
  for (const e of draftFields(dialog)) {
    if (!Object.hasOwn(draft, e.id)) continue;
    if (isCheckable(e)) e.checked = draft[e.id] === true;
    else e.value = String(draft[e.id]);
  }
}

/** removeSettledDrafts removes the drafts of this run's closed questions. */
export function removeSettledDrafts() {
  const run = location.pathname.match(/\/runs\/([0-9a-f]+)$/)?.[1];
  if (!run) return;
  for (const key of tabStorage.keys()) {
    if (key.startsWith(draftKey(`ask-${run}`)) && !document.getElementById(key.slice(draftKey("").length))) tabStorage.drop(key);
  }
}

export const dropDraft = (id) => tabStorage.drop(draftKey(id));

document.addEventListener("input", (event) => {
  const dialog = event.target.closest?.("dialog.ask");
  if (dialog && !event.target.matches(".choice-filter")) saveDraft(dialog);
});
