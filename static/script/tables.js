// Tables: a click on a column header sorts by it, and a third click restores the order;
// buttons copy the table to the clipboard.

import { announce, createElement, find, findAll } from "./dom.js";

const originalOrder = new WeakMap();

export function makeSortable() {
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
