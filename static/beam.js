// Beam's own script: what the pages do beyond what the server tells them. They
// work without it. It keeps no state but what is typed and what is in sight,
// reads no expression, and writes text only as text.

const one = (selector, within = document) => within.querySelector(selector);
const all = (selector, within = document) => [...within.querySelectorAll(selector)];
const make = (tag, classes, text = "") => {
  const e = document.createElement(tag);
  e.className = classes;
  e.textContent = text;
  return e;
};

// A store that may be full or forbidden, in which case nothing is kept.
const store = (area) => ({
  get: (key) => { try { return JSON.parse(area().getItem(key)); } catch { return null; } },
  set: (key, value) => { try { area().setItem(key, JSON.stringify(value)); } catch { /* nothing is kept */ } },
  drop: (key) => { try { area().removeItem(key); } catch { /* nothing was kept */ } },
  keys: () => { try { return Object.keys(area()); } catch { return []; } },
});
const tab = store(() => sessionStorage);
const browser = store(() => localStorage);

/** say tells something in the page's one live region, after what the server says there. */
function say(text) {
  setTimeout(() => {
    const region = one("#announce");
    if (region) region.textContent = text;
  }, 150);
}

const typing = (e) =>
  e?.isContentEditable || e?.matches?.("textarea, select, input:not([type=checkbox], [type=radio], [type=button], [type=submit])");

const words = (ms) => {
  const s = Math.floor(ms / 1000);
  if (s < 60) return `${s} s`;
  if (s < 3600) return `${Math.floor(s / 60)} min ${s % 60} s`;
  return s < 172800 ? `${Math.floor(s / 3600)} h ${Math.floor(s / 60) % 60} min` : `${Math.floor(s / 86400)} days`;
};

// --- Questions ---------------------------------------------------------------

const draftOf = (id) => `beam:draft:${id}`;
const known = new Map(); // the questions in the page: id → was it in sight, and did it hold the focus?
const sent = new Map(); // the questions that this page answered: id → when
const cameFrom = new Map(); // id → what had the focus before
let stopping = false;

const questions = () => all("dialog.ask:not(.gone)");
const open = () => questions().filter((d) => d.open);

/** control is where a question's focus goes first; of a confirmation, to what it asks. */
function control(dialog) {
  const heading = one("h2", dialog);
  if (!matchMedia("(pointer: fine)").matches) return heading; // no keyboard springs up
  const fields = all("input:not([type=hidden]), select, textarea", dialog).filter((e) => !e.disabled);
  return one("input[type=radio]:checked", dialog) ?? fields[0] ?? heading;
}

function focusOn(dialog) {
  control(dialog)?.focus({ preventScroll: true });
  dialog.scrollIntoView({ block: "nearest" });
}

/** arrive brings the focus to a question that came, unless the person is busy. */
function arrive(dialog) {
  const now = document.activeElement;
  if (typing(now) || now?.closest("dialog") || one("dialog.modal[open]")) return;
  if (now && now !== document.body) cameFrom.set(dialog.id, now);
  focusOn(dialog);
}

/** leave brings the focus on: to the next question, or to where it was. */
function leave(id) {
  const now = document.activeElement;
  if (now && now !== document.body) return;
  const back = cameFrom.get(id);
  const next = open()[0];
  if (next) {
    cameFrom.set(next.id, back);
    focusOn(next);
  } else if (back?.isConnected) back.focus({ preventScroll: true });
  else one("#main")?.focus({ preventScroll: true });
}

/** settled sees to a question that is not in the page any more. */
function settled(id, was) {
  tab.drop(draftOf(id));
  // An answer of this page's may have come too late.
  const how = howSettled(id);
  const late = document.getElementById(id) || (how && !how.includes("in the browser"));
  const own = stopping || (Date.now() - (sent.get(id) ?? 0) < 15_000 && !late);
  sent.delete(id);
  if (!own) tellSettled(id, was);
  else if (was.focused) leave(id);
  cameFrom.delete(id);
  uploads.get(id)?.abort();
}

const rowOf = (id) => document.getElementById(`e-${id.split("-").pop()}`);

/** howSettled is what the question's row says of it, if it does yet. */
const howSettled = (id) => {
  const row = rowOf(id);
  return row && one(".how", row)?.textContent.trim();
};

function tellSettled(id, was) {
  const row = rowOf(id);
  const dock = one("#asks");
  if (!row || !dock) return;
  const late = document.getElementById(id);
  const how = (howSettled(id) ?? "settled").replace("in the browser", "on another page");
  const sentence = (late && one(".why", late)?.textContent) ?? (how.startsWith("expired") ? `This question ${how}.` : `This question was ${how}.`);
  late?.remove();
  const note = make("div", "closed-note");
  note.tabIndex = -1;
  const dismiss = make("button", "quiet small", "Dismiss");
  dismiss.type = "button";
  dismiss.addEventListener("click", () => {
    note.remove();
    leave(id);
  });
  note.append(make("p", "q", one(".q", row)?.textContent ?? ""), make("p", "why", sentence), dismiss);
  dock.prepend(note);
  say(`${sentence} ${note.firstChild.textContent}`);
  if (was.focused) note.focus({ preventScroll: true });
  else cameFrom.delete(id);
}

/** look notices which questions came and went. */
function look() {
  const now = new Map(questions().map((d) => [d.id, d]));
  for (const [id, was] of known) {
    if (now.has(id)) continue;
    known.delete(id);
    settled(id, was);
  }
  for (const [id, dialog] of now) {
    if (one(".summary", dialog)) sent.delete(id);
    if (known.has(id)) continue;
    known.set(id, {});
    restore(dialog);
    if (dialog.open) arrive(dialog);
  }
  remember();
}

function remember() {
  for (const d of questions()) known.set(d.id, { open: d.open, focused: d.contains(document.activeElement) });
}
document.addEventListener("focusin", remember);

document.addEventListener("close", (event) => {
  const dialog = event.target;
  if (!dialog.matches?.("dialog.ask")) return;
  const back = cameFrom.get(dialog.id) ?? one(`a[href="#${dialog.id}"]`);
  if (!document.activeElement || document.activeElement === document.body || dialog.contains(document.activeElement)) {
    const next = open()[0];
    next ? focusOn(next) : back?.focus({ preventScroll: true });
  }
  remember();
}, true);

document.addEventListener("click", (event) => {
  const answer = event.target.closest?.('a[href^="#ask-"]');
  const dialog = answer && document.getElementById(answer.hash.slice(1));
  if (!dialog?.matches("dialog")) return;
  event.preventDefault();
  cameFrom.set(dialog.id, answer);
  setTimeout(() => dialog.open && focusOn(dialog));
});

document.addEventListener("submit", (event) => {
  const dialog = event.target.closest("dialog.ask");
  if (dialog) sent.set(dialog.id, Date.now());
  if (event.target.closest(".run-head")) stopping = true;
}, true);

// Files: how much has been sent is told, and the sending ends with the question.

const uploads = new Map(); // id of the question → its request

/** upload sends a question's files, in the place of Datastar, which tells nothing of how far it is. */
function upload(event) {
  const form = event.target, dialog = form.closest?.("dialog.ask");
  if (!dialog || form.enctype !== "multipart/form-data" || !form.id.endsWith("-form") || document.body.matches(".alone, .plain")) return;
  event.preventDefault();
  event.stopImmediatePropagation();
  if (uploads.has(dialog.id)) return;
  const bar = make("progress", "upload"), sending = one(".sending", dialog), request = new XMLHttpRequest();
  bar.ariaLabel = "Sent";
  one(".upload", dialog)?.remove();
  form.after(bar);
  uploads.set(dialog.id, request);
  sending.hidden = false;
  const end = (problem = "") => {
    uploads.delete(dialog.id);
    bar.remove();
    sending.hidden = !problem;
    sending.textContent = problem || "Sending …";
    if (problem) say(problem);
  };
  request.upload.onprogress = ({ loaded, total }) => {
    bar.max = total;
    bar.value = loaded;
    sending.textContent = `Sending … ${Math.floor((100 * loaded) / Math.max(total, 1))} %`;
  };
  request.onerror = () => end("It could not be sent. Try again.");
  request.onabort = () => end();
  request.onload = () => {
    const shown = request.status === 200 && request.getResponseHeader("Content-Type")?.startsWith("text/html");
    end(shown || request.status === 202 ? "" : `It was not taken (${request.status}). Try again.`);
    if (shown) {
      const detail = { type: "datastar-patch-elements", el: form, argsRaw: { elements: request.responseText } };
      document.dispatchEvent(new CustomEvent("datastar-fetch", { detail }));
    }
  };
  request.open("POST", form.action);
  request.setRequestHeader("Datastar-Request", "true");
  request.send(new FormData(form));
}
document.addEventListener("submit", upload, true);

/** submitBy presses the button that a form is submitted with, if there is just one. */
function submitBy(event) {
  const form = event.target.closest?.("form.sheet, dialog.ask");
  const buttons = form ? all("button.primary", form) : [];
  if (!form || buttons.length !== 1) return;
  if (one(".nothing", form)) return; // a confirmation is given on purpose
  event.preventDefault();
  buttons[0].click();
}

// Drafts: what is typed in a question stays with the tab until it is settled.
// Neither secrets nor files do.

const kept = (dialog) =>
  all("[id][name]", dialog).filter((e) => e.matches("input, select, textarea") && !["password", "file", "hidden", "submit"].includes(e.type));
const ticks = (e) => e.type === "checkbox" || e.type === "radio";

function keep(dialog) {
  tab.set(draftOf(dialog.id), Object.fromEntries(kept(dialog).map((e) => [e.id, ticks(e) ? e.checked : e.value])));
}

function restore(dialog) {
  const draft = tab.get(draftOf(dialog.id));
  if (!draft) return;
  for (const e of kept(dialog)) {
    if (!Object.hasOwn(draft, e.id)) continue;
    if (ticks(e)) e.checked = draft[e.id] === true;
    else e.value = String(draft[e.id]);
  }
}

/** sweep forgets what was typed in questions of this run that are settled. */
function sweep() {
  const run = location.pathname.match(/^\/runs\/([0-9a-f]+)/)?.[1];
  if (!run) return;
  for (const key of tab.keys()) {
    if (key.startsWith(draftOf(`ask-${run}`)) && !document.getElementById(key.slice(draftOf("").length))) tab.drop(key);
  }
}

document.addEventListener("input", (event) => {
  if (event.target.matches(".narrow")) return narrow(event.target);
  if (event.target.id === "find") return search(event.target);
  const dialog = event.target.closest?.("dialog.ask");
  if (dialog) keep(dialog);
});

// Long lists of choices.

function narrow(box) {
  const wanted = box.value.toLowerCase().trim().split(/\s+/);
  const field = box.closest(".field");
  const choices = all(".tick, option[value]:not([value=''])", field);
  let n = 0;
  for (const c of choices) {
    const fits = wanted.every((w) => c.textContent.toLowerCase().includes(w));
    c.hidden = !fits;
    if (c.tagName === "OPTION") c.disabled = !fits && !c.selected;
    if (fits) n++;
  }
  one(".narrowed", field).textContent = box.value ? `${n} of ${choices.length}` : "";
}

/** choose takes the first of the choices that are left. */
function choose(box) {
  const first = all(".tick:not([hidden]) input, option[value]:not([value=''], [hidden])", box.closest(".field"))[0];
  if (!first) return;
  if (first.tagName !== "OPTION") return first.focus();
  const select = first.closest("select");
  select.value = first.value;
  select.focus();
  select.dispatchEvent(new Event("input", { bubbles: true }));
}

// --- The timeline ------------------------------------------------------------

const timeline = () => one("#timeline");
let following = false, held = false, fresh = 0, height = 0;

const atEnd = () => innerHeight + scrollY >= document.documentElement.scrollHeight - 48;
const toEnd = () => scrollTo({ top: document.documentElement.scrollHeight, behavior: "instant" });

function showFollowing() {
  const on = following && !held;
  one("#follow")?.setAttribute("aria-pressed", String(on));
  const newer = one("#newer");
  if (!newer) return;
  if (on) fresh = 0;
  newer.hidden = fresh === 0;
  newer.textContent = `${fresh.toLocaleString("en")} new`;
}

function follow(on) {
  held = !on;
  following = on;
  if (on) toEnd();
  showFollowing();
}

/** grown keeps to the newest row, or counts what came. */
function grown(rows) {
  const before = height;
  height = document.documentElement.scrollHeight;
  if (!following || held) fresh += rows;
  else if (height !== before) toEnd();
  if (rows > 0) showFollowing();
}

function beginFollowing() {
  if (!one("#follow")) return;
  const [navigation] = performance.getEntriesByType("navigation");
  following = navigation?.type === "navigate" && !location.hash ? true : atEnd();
  if (following) toEnd();
  showFollowing();
  addEventListener("scroll", () => {
    following = atEnd();
    showFollowing();
  }, { passive: true });
  one("#follow").addEventListener("click", () => follow(!(following && !held)));
  one("#newer")?.addEventListener("click", () => {
    follow(true);
    one("#follow")?.focus({ preventScroll: true });
  });
}

const levels = ["info", "warning", "error", "none"];

function showLevels(level) {
  const section = one(".happened");
  for (const l of levels) section.classList.toggle(`log-${l}`, l === level);
}

function beginLevels() {
  const select = one("#levels");
  if (!select) return;
  select.value = levels.includes(tab.get("beam:levels")) ? tab.get("beam:levels") : "";
  showLevels(select.value);
  select.addEventListener("change", () => {
    tab.set("beam:levels", select.value);
    showLevels(select.value);
  });
}

// Tables: a click on a column's head sorts by it, a third one undoes it.

const inOrder = new WeakMap();

function makeSortable() {
  for (const th of all(".artifact thead th:not(:has(button))")) {
    const button = make("button", "sort", th.textContent);
    button.type = "button";
    th.replaceChildren(button);
  }
}

function sort(th) {
  const table = th.closest("table"), body = table.tBodies[0], n = th.cellIndex;
  const before = inOrder.get(body);
  const rows = before?.every((r) => r.parentNode === body) && before.length === body.rows.length ? before : [...body.rows];
  inOrder.set(body, rows);
  const way = { ascending: "descending", descending: null }[th.ariaSort] ?? (th.ariaSort ? null : "ascending");
  for (const other of all("th", table)) other.removeAttribute("aria-sort");
  if (way) th.setAttribute("aria-sort", way);
  const text = (r) => r.cells[n]?.textContent ?? "";
  const compare = th.classList.contains("num") ? (a, b) => Number(a) - Number(b) : new Intl.Collator(undefined, { numeric: true }).compare;
  const sign = way === "descending" ? -1 : 1;
  const sorted = way ? [...rows].sort((a, b) => (text(a) === "") - (text(b) === "") || sign * compare(text(a), text(b))) : rows;
  body.append(...sorted);
}

const separated = {
  csv: (cells) => cells.map((c) => (/[",\r\n]/.test(c) ? `"${c.replaceAll('"', '""')}"` : c)).join(","),
  tsv: (cells) => cells.map((c) => c.replace(/[\t\r\n]+/g, " ")).join("\t"),
};

/** wholeTable is all of a table that is shown in part: its head and its rows. */
async function wholeTable(artifact) {
  const from = one(".left", artifact) && one("a.download", artifact)?.href;
  if (!from) return null;
  try {
    const body = await (await fetch(from)).json();
    const { columns, rows } = body.labels ? charted(body) : body;
    const text = (cell) => (cell === null || cell === undefined ? "" : typeof cell === "object" ? JSON.stringify(cell) : String(cell));
    return [columns, ...rows.map((row) => columns.map((_, n) => row[n]))].map((row) => row.map(text));
  } catch {
    return null;
  }
}

/** charted is a chart's data as a table. */
const charted = ({ xTitle, labels, series }) => ({
  columns: [xTitle || "label", ...series.map((s) => s.name)],
  rows: labels.map((label, n) => [label, ...series.map((s) => s.values[n])]),
});

/** copy puts a table on the clipboard: all of it, or, in their order, the rows that are shown. */
async function copy(button) {
  const artifact = button.closest(".artifact"), label = button.textContent;
  const whole = await wholeTable(artifact);
  const lines = (whole ?? all("tr", one("table", artifact)).map((r) => [...r.cells].map((c) => c.textContent))).map(separated[button.value]);
  const done = await onClipboard(lines.join("\n") + "\n");
  const part = !whole && one(".left", artifact) ? "Only what is shown: " : "";
  button.textContent = done ? `Copied${part && " in part"}` : "Not copied";
  say(done ? `${part}${lines.length - 1} rows are on the clipboard.` : "The browser did not let the table be copied.");
  setTimeout(() => (button.textContent = label), part ? 4000 : 1500);
}

async function onClipboard(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const area = make("textarea", "hidden");
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
  if (th) sort(th);
  const button = event.target.closest?.("button.copy");
  if (button && !/copied/i.test(button.textContent)) copy(button);
});

// --- What time does ----------------------------------------------------------

const ends = new WeakMap(); // of what counts down: [what the server said, when that is over]

function countDown() {
  for (const e of all(".deadline")) {
    const said = e.dataset.left;
    if (ends.get(e)?.[0] !== said) ends.set(e, [said, performance.now() + Number(said)]);
    const left = ends.get(e)[1] - performance.now();
    e.textContent = left > 0 ? `expires in ${words(left)}` : "has expired";
  }
}

/** phase tells how long what the latest status says has been going on. */
function phase() {
  if (!one(".run-head.running")) return;
  const last = all(".r-status, .r-ask", timeline()).at(-1);
  const lasted = last && one(".lasted", last);
  if (!lasted || (lasted.textContent.trim() && !lasted.classList.contains("ticking"))) return;
  const seconds = (text) => (text ?? "").trim().split(":").reduce((sum, part) => sum * 60 + Number(part), 0);
  const ms = 1000 * (seconds(one(".elapsed")?.textContent) - seconds(one(".when", last).textContent));
  if (!(ms >= 2000)) return;
  lasted.classList.add("ticking");
  lasted.textContent = words(ms);
}

const rough = (ms) => (ms < 3_600_000 && ms >= 60_000 ? words(ms).replace(/ \d+ s$/, "") : ms < 172_800_000 && ms >= 3_600_000 ? words(ms).replace(/ \d+ min$/, "") : words(ms));

/** ages keeps up to date how long things are past, and tells on a hover when they were. */
function ages() {
  for (const t of all("time.ago, time.since")) {
    const ms = Date.now() - Date.parse(t.dateTime), now = ms < 10_000;
    const text = t.matches(".since") ? (now ? "now" : rough(ms).replace("days", "d")) : now ? "just now" : `${rough(ms)} ago`;
    if (t.textContent !== text) t.textContent = text;
    t.title ||= new Date(t.dateTime).toLocaleString();
  }
}

// --- Finding one's way -------------------------------------------------------

function showCount() {
  const n = one("#inbox .badge")?.textContent;
  const title = document.title.replace(/^\(\d[\d,]*\) /, "");
  const wanted = n ? `(${n}) ${title}` : title;
  if (document.title !== wanted) document.title = wanted;
}

/** search narrows the first page's photons as one types. */
function search(box) {
  const cards = all(".home .cards > li");
  if (cards.length === 0) return;
  const wanted = box.value.toLowerCase().trim().split(/\s+/);
  for (const c of cards) c.hidden = !wanted.every((w) => c.textContent.toLowerCase().includes(w));
  const none = cards.every((c) => c.hidden);
  one(".cards").hidden = none;
  one("#none-found").hidden = !none;
  history.replaceState(null, "", box.value.trim() ? `/?q=${encodeURIComponent(box.value.trim())}` : "/");
}

/** stops are what j and k go through. */
function stops() {
  if (open().length > 1) return open().map((d) => one("h2", d));
  if (timeline()) return [...all(".row", timeline()).filter((r) => r.offsetParent), ...open().map((d) => one("h2", d))];
  return all(".cards > li:not([hidden]) h2 a, .list > li a.button, .runs .list > li > a");
}

function step(by) {
  const list = stops();
  const now = document.activeElement;
  let at = list.findIndex((e) => e === now || e.contains(now) || e.closest("dialog, .list > li")?.contains(now));
  at = at < 0 ? (by > 0 ? 0 : list.length - 1) : at + by;
  const next = list[at];
  if (!next) return;
  if (!next.matches("a, button, [tabindex]")) next.tabIndex = -1;
  next.focus({ preventScroll: true });
  next.scrollIntoView({ block: "nearest" });
}

const showKeys = () => one("#keys")?.showModal();
const places = { h: "/", r: "/runs", i: "/asks" };
const shortcuts = {
  "/": () => one("#find")?.focus(),
  "?": showKeys,
  j: () => step(1),
  k: () => step(-1),
  s: () => {
    if (!one(".run-head .stop")) return;
    one("#really")?.showModal();
    one("#really .keep")?.focus();
  },
};
let going = 0;

document.addEventListener("keydown", (event) => {
  const { key, target } = event;
  if (key === "Enter" && target.matches?.(".narrow")) {
    event.preventDefault();
    return event.ctrlKey || event.metaKey ? submitBy(event) : choose(target);
  }
  if (key === "Escape" && target.matches?.(".narrow") && target.value) {
    event.stopPropagation(); // it empties the box, and the question stays
    return;
  }
  if (key === "Enter" && (event.ctrlKey || event.metaKey)) return submitBy(event);
  if (event.ctrlKey || event.metaKey || event.altKey || event.repeat && !"jk".includes(key)) return;
  if (typing(target) || one("dialog.modal[open]") || browser.get("beam:keys") === false) return;
  const to = Date.now() - going < 1500 && places[key];
  going = key === "g" ? Date.now() : 0;
  if (to) location.assign(to);
  else if (Object.hasOwn(shortcuts, key)) {
    event.preventDefault();
    shortcuts[key]();
  }
}, true);

function beginKeys() {
  one("#show-keys")?.addEventListener("click", showKeys);
  const on = one("#keys-on");
  if (on) {
    on.checked = browser.get("beam:keys") !== false;
    on.addEventListener("change", () => browser.set("beam:keys", on.checked));
  }
  one("#really")?.addEventListener("close", (event) => {
    if (event.target.returnValue === "stop") one(".run-head .stop")?.click();
    event.target.returnValue = "";
  });
}

/** beginWatch says what the note about the connection shows. */
function beginWatch() {
  const away = one("#live .away");
  if (!away) return;
  let hidden = away.hidden; // which is set again and again
  new MutationObserver(() => {
    if (away.hidden === hidden) return;
    hidden = away.hidden;
    say(hidden ? "The connection is back. Nothing was missed." : "The connection was lost. Trying again.");
  }).observe(away, { attributeFilter: ["hidden"] });
}

// --- All of it ---------------------------------------------------------------

let looking = false, rows = 0;
new MutationObserver((changes) => {
  showCount(); // in a hidden tab too
  for (const { target, addedNodes } of changes) if (target.id === "timeline") rows += addedNodes.length;
  if (looking) return;
  looking = true;
  requestAnimationFrame(() => {
    looking = false;
    const came = rows;
    rows = 0;
    look();
    makeSortable();
    grown(came);
  });
}).observe(document.body, { childList: true, subtree: true });

// The count may change in its place, where no node comes or goes.
const inbox = one("#inbox");
if (inbox) new MutationObserver(showCount).observe(inbox, { characterData: true, subtree: true });

beginFollowing();
beginLevels();
beginKeys();
beginWatch();
ages();
makeSortable();
sweep();
look();
setInterval(() => {
  countDown();
  phase();
}, 1000);
setInterval(ages, 20_000);
