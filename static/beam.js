// Beam's own script: what pages do beyond the patches that the server sends. Pages
// work without it. Its only state is drafts, focus and view settings; it evaluates no
// expressions and inserts text only as text.

const find = (selector, within = document) => within.querySelector(selector);
const findAll = (selector, within = document) => [...within.querySelectorAll(selector)];
const createElement = (tag, classes, text = "") => {
  const e = document.createElement(tag);
  e.className = classes;
  e.textContent = text;
  return e;
};

/** safeStorage wraps a storage area and ignores errors: it may be full or forbidden. */
const safeStorage = (area) => ({
  get: (key) => { try { return JSON.parse(area().getItem(key)); } catch { return null; } },
  set: (key, value) => { try { area().setItem(key, JSON.stringify(value)); } catch { /* full or forbidden */ } },
  drop: (key) => { try { area().removeItem(key); } catch { /* forbidden */ } },
  keys: () => { try { return Object.keys(area()); } catch { return []; } },
});
const tabStorage = safeStorage(() => sessionStorage);
const browserStorage = safeStorage(() => localStorage);

/** announce writes to the page's only live region, after the server's announcement. */
function announce(text) {
  setTimeout(() => {
    const region = find("#announce");
    if (region) region.textContent = text;
  }, 150);
}

const isTextInput = (e) =>
  e?.isContentEditable || e?.matches?.("textarea, select, input:not([type=checkbox], [type=radio], [type=button], [type=submit])");

const formatDuration = (ms) => {
  const s = Math.floor(ms / 1000);
  if (s < 60) return `${s} s`;
  if (s < 3600) return `${Math.floor(s / 60)} min ${s % 60} s`;
  return s < 172800 ? `${Math.floor(s / 3600)} h ${Math.floor(s / 60) % 60} min` : `${Math.floor(s / 86400)} days`;
};

// --- Questions ---------------------------------------------------------------

const draftKey = (id) => `beam:draft:${id}`;
const seenQuestions = new Map(); // id → whether the question was open and contained the focus
const submittedAt = new Map(); // id → when this page submitted an answer
const previousFocus = new Map(); // id → the element that had the focus before
let stopping = false;

const questionDialogs = () => findAll("dialog.ask:not(.closed)");
const openDialogs = () => questionDialogs().filter((d) => d.open);

/** firstControl returns the element of a question to focus: its heading if it is a confirmation. */
function firstControl(dialog) {
  const heading = find("h2", dialog);
  if (!matchMedia("(pointer: fine)").matches) return heading; // on touch screens, focusing a field would open the keyboard
  const fields = findAll("input:not([type=hidden]), select, textarea", dialog).filter((e) => !e.disabled);
  return find("input[type=radio]:checked", dialog) ?? fields[0] ?? heading;
}

function focusDialog(dialog) {
  firstControl(dialog)?.focus({ preventScroll: true });
  dialog.scrollIntoView({ block: "nearest" });
}

/** focusNewQuestion focuses a new question, unless the person is busy elsewhere. */
function focusNewQuestion(dialog) {
  const now = document.activeElement;
  if (isTextInput(now) || now?.closest("dialog") || find("dialog.modal[open]")) return;
  if (now && now !== document.body) previousFocus.set(dialog.id, now);
  focusDialog(dialog);
}

/** restoreFocus focuses the next question, or what had the focus before. */
function restoreFocus(id) {
  const now = document.activeElement;
  if (now && now !== document.body) return;
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
  tabStorage.drop(draftKey(id));
  // This page's answer may have been too late.
  const how = readOutcome(id);
  const late = document.getElementById(id) || (how && !how.includes("in the browser"));
  const own = stopping || (Date.now() - (submittedAt.get(id) ?? 0) < 15_000 && !late);
  submittedAt.delete(id);
  if (!own) showClosedNote(id, was);
  else if (was.focused) restoreFocus(id);
  previousFocus.delete(id);
  uploads.get(id)?.abort();
}

const findRow = (id) => document.getElementById(`e-${id.split("-").pop()}`);

/** readOutcome returns the outcome that the question's row shows, if any. */
const readOutcome = (id) => {
  const row = findRow(id);
  return row && find(".outcome", row)?.textContent.trim();
};

function showClosedNote(id, was) {
  const row = findRow(id);
  const dock = find("#asks");
  if (!row || !dock) return;
  const late = document.getElementById(id);
  const how = (readOutcome(id) ?? "closed").replace("in the browser", "on another page");
  const sentence = (late && find(".reason", late)?.textContent) ?? (how.startsWith("expired") ? `This question ${how}.` : `This question was ${how}.`);
  late?.remove();
  const note = createElement("div", "closed-note");
  note.tabIndex = -1;
  const dismiss = createElement("button", "quiet small", "Dismiss");
  dismiss.type = "button";
  dismiss.addEventListener("click", () => {
    note.remove();
    restoreFocus(id);
  });
  note.append(createElement("p", "question-text", find(".question-text", row)?.textContent ?? ""), createElement("p", "reason", sentence), dismiss);
  dock.prepend(note);
  announce(`${sentence} ${note.firstChild.textContent}`);
  if (was.focused) note.focus({ preventScroll: true });
  else previousFocus.delete(id);
}

/** syncQuestions handles questions that were added or removed. */
function syncQuestions() {
  const now = new Map(questionDialogs().map((d) => [d.id, d]));
  for (const [id, was] of seenQuestions) {
    if (now.has(id)) continue;
    seenQuestions.delete(id);
    handleRemovedQuestion(id, was);
  }
  for (const [id, dialog] of now) {
    if (find(".summary", dialog)) submittedAt.delete(id);
    if (seenQuestions.has(id)) continue;
    seenQuestions.set(id, {});
    restoreDraft(dialog);
    if (dialog.open) focusNewQuestion(dialog);
  }
  recordFocus();
}

function recordFocus() {
  for (const d of questionDialogs()) seenQuestions.set(d.id, { open: d.open, focused: d.contains(document.activeElement) });
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

document.addEventListener("submit", (event) => {
  const dialog = event.target.closest("dialog.ask");
  if (dialog) submittedAt.set(dialog.id, Date.now());
  if (event.target.closest(".run-head")) stopping = true;
}, true);

// Uploads show their progress and end with their question.

const uploads = new Map(); // id → the request that sends its files

/** uploadFiles sends a question's files instead of Datastar, which reports no progress. */
function uploadFiles(event) {
  const form = event.target, dialog = form.closest?.("dialog.ask");
  if (!dialog || form.enctype !== "multipart/form-data" || !form.id.endsWith("-form") || document.body.matches(".alone, .plain")) return;
  event.preventDefault();
  event.stopImmediatePropagation();
  if (uploads.has(dialog.id)) return;
  const bar = createElement("progress", "upload"), sending = find(".sending", dialog), request = new XMLHttpRequest();
  bar.ariaLabel = "Sent";
  find(".upload", dialog)?.remove();
  form.after(bar);
  uploads.set(dialog.id, request);
  sending.hidden = false;
  const end = (problem = "") => {
    uploads.delete(dialog.id);
    bar.remove();
    sending.hidden = !problem;
    sending.textContent = problem || "Sending …";
    if (problem) announce(problem);
  };
  request.upload.onprogress = ({ loaded, total }) => {
    bar.max = total;
    bar.value = loaded;
    sending.textContent = `Sending … ${Math.floor((100 * loaded) / Math.max(total, 1))} %`;
  };
  request.onerror = () => end("Upload failed. Try again.");
  request.onabort = () => end();
  request.onload = () => {
    const shown = request.status === 200 && request.getResponseHeader("Content-Type")?.startsWith("text/html");
    end(shown || request.status === 202 ? "" : `The server rejected the upload (${request.status}). Try again.`);
    if (shown) {
      const detail = { type: "datastar-patch-elements", el: form, argsRaw: { elements: request.responseText } };
      document.dispatchEvent(new CustomEvent("datastar-fetch", { detail }));
    }
  };
  request.open("POST", form.action);
  request.setRequestHeader("Datastar-Request", "true");
  request.send(new FormData(form));
}
document.addEventListener("submit", uploadFiles, true);

/** pressSubmit presses the form's primary button, if there is exactly one. */
function pressSubmit(event) {
  const form = event.target.closest?.("form.sheet, dialog.ask");
  const buttons = form ? findAll("button.primary", form) : [];
  if (!form || buttons.length !== 1) return;
  if (find(".nothing", form)) return; // a confirmation needs a deliberate click
  event.preventDefault();
  buttons[0].click();
}

// Drafts: the tab keeps what is typed in a question until the question is closed, except
// secrets and files.

const draftFields = (dialog) =>
  findAll("[id][name]", dialog).filter((e) => e.matches("input, select, textarea") && !["password", "file", "hidden", "submit"].includes(e.type));
const isCheckable = (e) => e.type === "checkbox" || e.type === "radio";

function saveDraft(dialog) {
  tabStorage.set(draftKey(dialog.id), Object.fromEntries(draftFields(dialog).map((e) => [e.id, isCheckable(e) ? e.checked : e.value])));
}

function restoreDraft(dialog) {
  const draft = tabStorage.get(draftKey(dialog.id));
  if (!draft) return;
  for (const e of draftFields(dialog)) {
    if (!Object.hasOwn(draft, e.id)) continue;
    if (isCheckable(e)) e.checked = draft[e.id] === true;
    else e.value = String(draft[e.id]);
  }
}

/** removeSettledDrafts removes the drafts of this run's closed questions. */
function removeSettledDrafts() {
  const run = location.pathname.match(/^\/runs\/([0-9a-f]+)/)?.[1];
  if (!run) return;
  for (const key of tabStorage.keys()) {
    if (key.startsWith(draftKey(`ask-${run}`)) && !document.getElementById(key.slice(draftKey("").length))) tabStorage.drop(key);
  }
}

document.addEventListener("input", (event) => {
  if (event.target.matches(".choice-filter")) return filterChoices(event.target);
  if (event.target.id === "find") return filterPhotons(event.target);
  const dialog = event.target.closest?.("dialog.ask");
  if (dialog) saveDraft(dialog);
});

// Long lists of choices.

function filterChoices(box) {
  const wanted = box.value.toLowerCase().trim().split(/\s+/);
  const field = box.closest(".field");
  const choices = findAll(".checkbox-row, option[value]:not([value=''])", field);
  let n = 0;
  for (const c of choices) {
    const fits = wanted.every((w) => c.textContent.toLowerCase().includes(w));
    c.hidden = !fits;
    if (c.tagName === "OPTION") c.disabled = !fits && !c.selected;
    if (fits) n++;
  }
  find(".filter-count", field).textContent = box.value ? `${n} of ${choices.length}` : "";
}

/** pickFirstChoice picks the first choice that matches the filter. */
function pickFirstChoice(box) {
  const first = findAll(".checkbox-row:not([hidden]) input, option[value]:not([value=''], [hidden])", box.closest(".field"))[0];
  if (!first) return;
  if (first.tagName !== "OPTION") return first.focus();
  const select = first.closest("select");
  select.value = first.value;
  select.focus();
  select.dispatchEvent(new Event("input", { bubbles: true }));
}

// --- The timeline ------------------------------------------------------------

const timeline = () => find("#timeline");
let following = false, followPaused = false, unseenRows = 0, pageHeight = 0;

const isAtBottom = () => innerHeight + scrollY >= document.documentElement.scrollHeight - 48;
const scrollToBottom = () => scrollTo({ top: document.documentElement.scrollHeight, behavior: "instant" });

function showFollowing() {
  const on = following && !followPaused;
  find("#follow")?.setAttribute("aria-pressed", String(on));
  const button = find("#new-rows");
  if (!button) return;
  if (on) unseenRows = 0;
  button.hidden = unseenRows === 0;
  button.textContent = `${unseenRows.toLocaleString("en")} new`;
}

function setFollowing(on) {
  followPaused = !on;
  following = on;
  if (on) scrollToBottom();
  showFollowing();
}

/** handleNewRows scrolls to the newest row, or counts new rows if not following. */
function handleNewRows(rows) {
  const before = pageHeight;
  pageHeight = document.documentElement.scrollHeight;
  if (!following || followPaused) unseenRows += rows;
  else if (pageHeight !== before) scrollToBottom();
  if (rows > 0) showFollowing();
}

function initFollowing() {
  if (!find("#follow")) return;
  const [navigation] = performance.getEntriesByType("navigation");
  following = navigation?.type === "navigate" && !location.hash ? true : isAtBottom();
  if (following) scrollToBottom();
  showFollowing();
  addEventListener("scroll", () => {
    following = isAtBottom();
    showFollowing();
  }, { passive: true });
  find("#follow").addEventListener("click", () => setFollowing(!(following && !followPaused)));
  find("#new-rows")?.addEventListener("click", () => {
    setFollowing(true);
    find("#follow")?.focus({ preventScroll: true });
  });
}

const levels = ["info", "warning", "error", "none"];

function filterLevels(level) {
  const section = find(".timeline-section");
  for (const l of levels) section.classList.toggle(`log-${l}`, l === level);
}

function initLevelFilter() {
  const select = find("#levels");
  if (!select) return;
  select.value = levels.includes(tabStorage.get("beam:levels")) ? tabStorage.get("beam:levels") : "";
  filterLevels(select.value);
  select.addEventListener("change", () => {
    tabStorage.set("beam:levels", select.value);
    filterLevels(select.value);
  });
}

// Tables: a click on a column header sorts by it, and a third click restores the order.

const originalOrder = new WeakMap();

function makeSortable() {
  for (const th of findAll(".artifact thead th:not(:has(button))")) {
    const button = createElement("button", "sort", th.textContent);
    button.type = "button";
    th.replaceChildren(button);
  }
}

function sortTable(th) {
  const table = th.closest("table"), body = table.tBodies[0], n = th.cellIndex;
  const original = originalOrder.get(body);
  const rows = original?.every((r) => r.parentNode === body) && original.length === body.rows.length ? original : [...body.rows];
  originalOrder.set(body, rows);
  const direction = { ascending: "descending", descending: null }[th.ariaSort] ?? (th.ariaSort ? null : "ascending");
  for (const other of findAll("th", table)) other.removeAttribute("aria-sort");
  if (direction) th.setAttribute("aria-sort", direction);
  const text = (r) => r.cells[n]?.textContent ?? "";
  const compare = th.classList.contains("num") ? (a, b) => Number(a) - Number(b) : new Intl.Collator(undefined, { numeric: true }).compare;
  const sign = direction === "descending" ? -1 : 1;
  const sorted = direction ? [...rows].sort((a, b) => (text(a) === "") - (text(b) === "") || sign * compare(text(a), text(b))) : rows;
  body.append(...sorted);
}

const toDelimitedText = {
  csv: (cells) => cells.map((c) => (/[",\r\n]/.test(c) ? `"${c.replaceAll('"', '""')}"` : c)).join(","),
  tsv: (cells) => cells.map((c) => c.replace(/[\t\r\n]+/g, " ")).join("\t"),
};

/** fetchTable returns the complete data of a truncated table, as rows of text with the header first. */
async function fetchTable(artifact) {
  const url = find(".left", artifact) && find("a.download", artifact)?.href;
  if (!url) return null;
  try {
    const body = await (await fetch(url)).json();
    const { columns, rows } = body.labels ? tableOfChart(body) : body;
    const text = (cell) => (cell === null || cell === undefined ? "" : typeof cell === "object" ? JSON.stringify(cell) : String(cell));
    return [columns, ...rows.map((row) => columns.map((_, n) => row[n]))].map((row) => row.map(text));
  } catch {
    return null;
  }
}

/** tableOfChart converts a chart's data to a table. */
const tableOfChart = ({ xTitle, labels, series }) => ({
  columns: [xTitle || "label", ...series.map((s) => s.name)],
  rows: labels.map((label, n) => [label, ...series.map((s) => s.values[n])]),
});

/** copyTable copies a table to the clipboard: all of it or, if it was not truncated, the shown rows in their order. */
async function copyTable(button) {
  const artifact = button.closest(".artifact"), label = button.textContent;
  const whole = await fetchTable(artifact);
  const lines = (whole ?? findAll("tr", find("table", artifact)).map((r) => [...r.cells].map((c) => c.textContent))).map(toDelimitedText[button.value]);
  const copied = await writeClipboard(lines.join("\n") + "\n");
  const part = !whole && find(".left", artifact) ? "Only the rows shown: " : "";
  button.textContent = copied ? `Copied${part && " in part"}` : "Not copied";
  announce(copied ? `${part}${lines.length - 1} rows copied to the clipboard.` : "The browser blocked access to the clipboard.");
  setTimeout(() => (button.textContent = label), part ? 4000 : 1500);
}

async function writeClipboard(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const area = createElement("textarea", "hidden");
    area.value = text;
    document.body.append(area);
    area.select();
    const done = document.execCommand("copy");
    area.remove();
    return done;
  }
}

document.addEventListener("click", (event) => {
  const th = event.target.closest?.("th:has(> .sort)");
  if (th) sortTable(th);
  const button = event.target.closest?.("button.copy");
  if (button && !/copied/i.test(button.textContent)) copyTable(button);
});

// --- Clocks ----------------------------------------------------------

const deadlines = new WeakMap(); // element → [data-left as rendered, when it expires]

function updateDeadlines() {
  for (const e of findAll(".deadline")) {
    const said = e.dataset.left;
    if (deadlines.get(e)?.[0] !== said) deadlines.set(e, [said, performance.now() + Number(said)]);
    const left = deadlines.get(e)[1] - performance.now();
    e.textContent = left > 0 ? `expires in ${formatDuration(left)}` : "has expired";
  }
}

/** updateOpenStatus shows how long the latest status has been in effect. */
function updateOpenStatus() {
  if (!find(".run-head.running")) return;
  const last = findAll(".r-status, .r-ask", timeline()).at(-1);
  const lasted = last && find(".lasted", last);
  if (!lasted || (lasted.textContent.trim() && !lasted.classList.contains("ticking"))) return;
  const seconds = (text) => (text ?? "").trim().split(":").reduce((sum, part) => sum * 60 + Number(part), 0);
  const ms = 1000 * (seconds(find(".elapsed")?.textContent) - seconds(find(".when", last).textContent));
  if (!(ms >= 2000)) return;
  lasted.classList.add("ticking");
  lasted.textContent = formatDuration(ms);
}

const formatRoughDuration = (ms) => (ms < 3_600_000 && ms >= 60_000 ? formatDuration(ms).replace(/ \d+ s$/, "") : ms < 172_800_000 && ms >= 3_600_000 ? formatDuration(ms).replace(/ \d+ min$/, "") : formatDuration(ms));

/** updateAges updates relative times and sets tooltips with the absolute times. */
function updateAges() {
  for (const t of findAll("time.ago, time.since")) {
    const ms = Date.now() - Date.parse(t.dateTime), now = ms < 10_000;
    const text = t.matches(".since") ? (now ? "now" : formatRoughDuration(ms).replace("days", "d")) : now ? "just now" : `${formatRoughDuration(ms)} ago`;
    if (t.textContent !== text) t.textContent = text;
    t.title ||= new Date(t.dateTime).toLocaleString();
  }
}

// --- Navigation -------------------------------------------------------

function updateTitleCount() {
  const n = find("#inbox .badge")?.textContent;
  const title = document.title.replace(/^\(\d[\d,]*\) /, "");
  const wanted = n ? `(${n}) ${title}` : title;
  if (document.title !== wanted) document.title = wanted;
}

/** filterPhotons filters the photons of the first page as the person types. */
function filterPhotons(box) {
  const cards = findAll(".home .cards > li");
  if (cards.length === 0) return;
  const wanted = box.value.toLowerCase().trim().split(/\s+/);
  for (const c of cards) c.hidden = !wanted.every((w) => c.textContent.toLowerCase().includes(w));
  const none = cards.every((c) => c.hidden);
  find(".cards").hidden = none;
  find("#none-found").hidden = !none;
  history.replaceState(null, "", box.value.trim() ? `/?q=${encodeURIComponent(box.value.trim())}` : "/");
}

/** navigationTargets returns the elements that j and k move through. */
function navigationTargets() {
  if (openDialogs().length > 1) return openDialogs().map((d) => find("h2", d));
  if (timeline()) return [...findAll(".row", timeline()).filter((r) => r.offsetParent), ...openDialogs().map((d) => find("h2", d))];
  return findAll(".cards > li:not([hidden]) h2 a, .list > li a.button, .runs .list > li > a");
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
const goTargets = { h: "/", r: "/runs", i: "/asks" };
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
  if (to) location.assign(to);
  else if (Object.hasOwn(shortcuts, key)) {
    event.preventDefault();
    shortcuts[key]();
  }
}, true);

function initShortcuts() {
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

/** initConnectionNote announces when the connection is lost and restored. */
function initConnectionNote() {
  const away = find("#live .away");
  if (!away) return;
  let hidden = away.hidden; // Datastar sets it repeatedly
  new MutationObserver(() => {
    if (away.hidden === hidden) return;
    hidden = away.hidden;
    announce(hidden ? "Reconnected. The page is up to date." : "Connection lost. Reconnecting.");
  }).observe(away, { attributeFilter: ["hidden"] });
}

// --- Start ---------------------------------------------------------------

let syncScheduled = false, rows = 0;
new MutationObserver((changes) => {
  updateTitleCount(); // even in a hidden tab
  for (const { target, addedNodes } of changes) if (target.id === "timeline") rows += addedNodes.length;
  if (syncScheduled) return;
  syncScheduled = true;
  requestAnimationFrame(() => {
    syncScheduled = false;
    const added = rows;
    rows = 0;
    syncQuestions();
    makeSortable();
    handleNewRows(added);
  });
}).observe(document.body, { childList: true, subtree: true });

// The count may change without any node being added or removed.
const inbox = find("#inbox");
if (inbox) new MutationObserver(updateTitleCount).observe(inbox, { characterData: true, subtree: true });

initFollowing();
initLevelFilter();
initShortcuts();
initConnectionNote();
updateAges();
makeSortable();
removeSettledDrafts();
syncQuestions();
setInterval(() => {
  updateDeadlines();
  updateOpenStatus();
}, 1000);
setInterval(updateAges, 20_000);
