// Tables: a click on a column header sorts by it, and a third click restores the order;
// buttons copy the table to the clipboard. Of a table that the page doesn't have whole, the
// server sorts, filters and copies.

import { fetchText, showCopied, writeClipboard } from "./clipboard.js";
import { announce, createElement, find, findAll } from "./dom.js";

const originalOrder = new WeakMap();

// Of a header that is partly out of sight, browsers scroll none.
document.addEventListener("focusin", ({ target }) => {
  if (target.matches(".sort")) target.scrollIntoView({ block: "nearest", inline: "nearest" });
});

export function makeSortable() {
  for (const th of findAll(".artifact thead th:not(:has(button, a))")) {
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

// Spreadsheets take a cell that begins like this for a formula; the server does the same.
const guardFormula = (text) => (/^[=+\-@＝＋－＠\p{Cc}\p{Cf}]/u.test(text) && !(text.trim() && isFinite(text)) ? `'${text}` : text);

const toDelimitedText = {
  csv: (cells) => cells.map((c) => (/[",\r\n]/.test(c) ? `"${c.replaceAll('"', '""')}"` : c)).join(","),
  tsv: (cells) => cells.map((c) => c.replace(/[\t\r\n]+/g, " ")).join("\t"),
};

/** shownRows returns the rows of a table in the order in which they are shown, as text. */
const shownRows = (artifact, format) =>
  findAll("tr", find("table", artifact)).map((r) => toDelimitedText[format]([...r.cells].map((c) => guardFormula(c.textContent)))).join("\n") + "\n";

/** copyTable copies all rows of a table that match, from the server if the page has only some, or shortened ones. */
async function copyTable(button) {
  const artifact = button.closest(".artifact"), source = find(".browse a.csv", artifact) ?? find("a.csv", artifact);
  const isPart = !find("table", artifact) || find(".left", artifact);
  const whole = source && isPart ? await fetchText(source.href.replace("format=csv", `format=${button.value}`)) : "";
  const copied = whole !== null && (await writeClipboard(whole || shownRows(artifact, button.value)));
  const part = !whole && isPart ? "Only the rows shown are copied." : "";
  const problem = whole === null ? "The table is too large to copy, or can’t be loaded. Save it as CSV." : "The browser blocked access to the clipboard.";
  showCopied(button, copied, part || "The table is copied to the clipboard.", problem);
}

/** loadPage shows another page of a table in place of the one in its artifact. */
async function loadPage(browse, url, focus) {
  browse.ariaBusy = "true";
  try {
    const response = await fetch(url, { headers: { Accept: "text/html" } });
    const page = new DOMParser().parseFromString(await response.text(), "text/html");
    const next = find(".browse", page);
    if (!response.ok || !next) throw new Error(response.statusText);
    browse.replaceWith(next);
    if (location.pathname === new URL(url).pathname) history.replaceState(null, "", url);
    makeSortable();
    const target = focus(next) ?? find("a, input, .scroll", next);
    target?.focus();
    if (target?.type === "search") target.setSelectionRange(target.value.length, target.value.length);
    announce(find(".span", next)?.textContent ?? "Shown.");
  } catch {
    location.href = url; // which says what is wrong
  }
}

const columnOf = (th) => (next) => find(`th:nth-child(${th.cellIndex + 1}) a`, next);

function focusAfter(link) {
  const th = link.closest("th");
  if (th) return columnOf(th);
  const text = link.textContent;
  return (next) => findAll(".pager a", next).find((a) => a.textContent === text) ?? find(".pager a", next);
}

document.addEventListener("click", (event) => {
  const link = event.target.closest?.(".browse a:not([download])");
  if (link && !event.ctrlKey && !event.metaKey && !event.shiftKey && !event.altKey) {
    event.preventDefault();
    loadPage(link.closest(".browse"), link.href, focusAfter(link));
    return;
  }
  const th = event.target.closest?.("th:has(> button.sort)");
  if (th) sortTable(th);
  const button = event.target.closest?.("button.copy");
  if (button && !/copied/i.test(button.textContent)) copyTable(button);
});

document.addEventListener("submit", (event) => {
  const form = event.target.closest?.(".browse-filter");
  if (!form) return;
  event.preventDefault();
  const query = new URLSearchParams(new FormData(form));
  loadPage(form.closest(".browse"), `${form.action}?${query}`, (next) => find("input[type=search]", next));
});
