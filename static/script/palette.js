// The palette: Ctrl or ⌘ and K find and open pages, photons, questions and runs. It is a
// combobox with a list (ARIA Authoring Practices Guide, Combobox).

import { createElement, find, findAll } from "./dom.js";

const dialog = () => find("#palette");
const input = () => find("#palette-q");
const options = () => findAll("#palette-hits [role=option]");
let latest = null, timer = 0, shown = null; // the request in progress; the text whose hits are shown

function select(option) {
  for (const o of options()) o.setAttribute("aria-selected", String(o === option));
  if (option) {
    input().setAttribute("aria-activedescendant", option.id);
    option.scrollIntoView({ block: "nearest" });
  } else input().removeAttribute("aria-activedescendant");
}

function show(hits) {
  find("#palette-hits").replaceChildren(...hits.map((hit, n) => {
    const option = createElement("li", "");
    option.id = `palette-${n}`;
    option.role = "option";
    option.dataset.url = hit.url;
    option.append(createElement("span", "kind", hit.kind), createElement("span", "name", hit.title), createElement("span", "detail", hit.detail ?? ""));
    return option;
  }));
  input().setAttribute("aria-expanded", String(hits.length > 0));
  select(options()[0]);
  find("#palette-status").textContent = hits.length === 0 ? "Nothing matches." : `${hits.length} found. Enter opens the selected one.`;
}

/** search shows what matches the text. */
async function search() {
  clearTimeout(timer);
  latest?.abort();
  latest = new AbortController();
  const text = input().value.trim();
  try {
    const url = `${input().form.action}?q=${encodeURIComponent(text)}`;
    const response = await fetch(url, { headers: { Accept: "application/json" }, signal: latest.signal });
    if (!response.ok) throw new Error(response.status);
    show((await response.json()).hits);
    shown = text;
  } catch (error) {
    if (error.name === "AbortError") return;
    show([]);
    find("#palette-status").textContent = "Beam didn’t respond.";
  }
}

function open() {
  if (!dialog() || dialog().open || find("dialog.modal[open]")) return;
  input().value = "";
  show([]);
  find("#palette-status").textContent = "";
  dialog().showModal();
  search();
}

/** openSelected opens the selected hit, once those of the typed text are there. */
async function openSelected() {
  if (shown !== input().value.trim()) await search();
  const url = find("#palette-hits [aria-selected=true]")?.dataset.url;
  if (url) location.assign(url);
}

document.addEventListener("keydown", (event) => {
  if ((event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey && event.key.toLowerCase() === "k") {
    if (!dialog()) return;
    event.preventDefault();
    return dialog().open ? dialog().close() : open();
  }
  if (event.target !== input() || !input()) return;
  const all = options(), at = all.findIndex((o) => o.ariaSelected === "true");
  const to = { ArrowDown: (at + 1) % all.length, ArrowUp: (at - 1 + all.length) % all.length, PageDown: all.length - 1, PageUp: 0 }[event.key];
  if (to === undefined || all.length === 0) return;
  event.preventDefault();
  select(all[to]);
});

document.addEventListener("input", ({ target }) => {
  if (target.id !== "palette-q") return;
  clearTimeout(timer);
  timer = setTimeout(search, 120);
});

document.addEventListener("submit", (event) => {
  if (event.target !== input()?.form) return;
  event.preventDefault();
  openSelected();
});

document.addEventListener("click", ({ target }) => {
  if (target.closest?.("#show-palette")) return open();
  const option = target.closest?.("#palette-hits [role=option]");
  if (option) location.assign(option.dataset.url);
  else if (target === dialog()) dialog().close(); // its backdrop
});
