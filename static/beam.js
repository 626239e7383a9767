// Beam's own script: what pages do beyond the patches that the server sends. Pages
// work without it. Its only state is drafts, focus and view settings; it evaluates no
// expressions and inserts text only as text.

import { startClocks } from "./script/clocks.js";
import "./script/copy.js";
import "./script/corrections.js";
import { find } from "./script/dom.js";
import { initShortcuts } from "./script/keyboard.js";
import "./script/palette.js";
import { initNotices, noticeQuestions } from "./script/notify.js";
import { initConnectionNote, updateTitleCount } from "./script/page.js";
import { returnClosedDrafts, syncQuestions } from "./script/questions.js";
import { makeSortable } from "./script/tables.js";
import "./script/pictures.js";
import { measureStuck } from "./script/stuck.js";
import "./script/submit.js";
import "./script/trees.js";
import "./script/unsent.js";
import { initToolForm } from "./script/toolform.js";
import { handleNewRows, initFollowing, initLevelFilter } from "./script/timeline.js";

function countQuestions() {
  updateTitleCount();
  noticeQuestions();
}

let syncScheduled = false, rows = [];
new MutationObserver((changes) => {
  countQuestions(); // even in a hidden tab
  for (const { target, addedNodes } of changes) if (target.id === "timeline") rows.push(...addedNodes);
  if (syncScheduled) return;
  syncScheduled = true;
  requestAnimationFrame(() => {
    syncScheduled = false;
    const added = rows;
    rows = [];
    measureStuck();
    syncQuestions();
    makeSortable();
    handleNewRows(added);
  });
}).observe(document.body, { childList: true, subtree: true });

// The count may change without any node being added or removed.
const inbox = find("#inbox");
if (inbox) new MutationObserver(countQuestions).observe(inbox, { characterData: true, subtree: true });

measureStuck();
initFollowing();
initLevelFilter();
initShortcuts();
initConnectionNote();
initNotices();
initToolForm();
makeSortable();
returnClosedDrafts();
syncQuestions();
startClocks();
