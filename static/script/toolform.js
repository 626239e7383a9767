// A tool's form and the JSON beside it follow each other. The server converts both ways,
// and renders what a button changes; nothing is started or kept by that.

import { announce, find, findAll } from "./dom.js";

const states = new WeakMap(); // form → what is in progress
const state = (form) => states.get(form) ?? states.set(form, { version: 0 }).get(form);
const formOf = (element) => element.closest?.("form.tool-form");
const jsonOf = (form) => find("#in-json", form);

function setSource(form, source) {
  const input = find('[name="beam:source"]', form);
  if (find(".fields > .field", form)) input.value = source;
}

/** problemIn returns what is wrong with JSON text; empty if nothing is. */
function problemIn(text) {
  try {
    JSON.parse(text.trim() || "{}");
    return "";
  } catch (error) {
    return error.message;
  }
}

/** keepJSON removes from what is posted what the JSON says, unless it is wrong. Passwords aren't in it. */
function keepJSON(form, data) {
  if (problemIn(jsonOf(form).value)) return;
  const kept = new Set(findAll("input[type=password]", form).map((e) => e.name));
  for (const name of [...data.keys()]) if (!name.startsWith("beam:") && !kept.has(name)) data.delete(name);
}

/** hasPart says whether a control is of a part, or of one of its parts. */
const hasPart = (name, input) => !name.startsWith("beam:") && (!input || name === input || name.startsWith(`${input}/`) || name.startsWith(`${input}~`));

/** recall keeps what the variants that are shown have, and fills in what those had that are chosen again. */
function recall(form, data) {
  const kept = (state(form).kept ??= new Map());
  const posted = [...data];
  for (const select of findAll(".variants > select", form)) {
    const input = select.name.replace(/~variant$/, ""), shared = JSON.parse(select.dataset.shared ?? "[]");
    const isOwn = (name) => name !== select.name && hasPart(name, input) && !shared.some((other) => hasPart(name, other));
    const shown = findAll("option", select).find((option) => option.defaultSelected)?.value;
    kept.set(`${select.name}=${shown}`, posted.filter(([name]) => isOwn(name)));
    const before = select.value !== shown && kept.get(`${select.name}=${select.value}`);
    if (!before) continue;
    for (const name of [...data.keys()].filter(isOwn)) data.delete(name);
    for (const [name, value] of before) data.append(name, value);
  }
}

/** forget drops what variants had in a list or object whose rows get other names. */
function forget(form, action) {
  const [, input] = action?.match(/^(?:remove|up|down) (.*?)(?:\/[^/~]*|~v\d+)?$/) ?? [];
  const kept = state(form).kept;
  if (input !== undefined && kept) for (const name of [...kept.keys()]) if (hasPart(name, input)) kept.delete(name);
}

/** request posts a form, and returns the response, or null if another request took over. */
async function request(form, action, accept) {
  const current = state(form);
  current.abort?.abort();
  current.abort = new AbortController();
  current.collects = true;
  const data = new FormData(form);
  current.collects = false;
  data.delete("beam:do");
  if (action) recall(form, data);
  forget(form, action);
  if (action) data.set("beam:do", action);
  if (action === "fill") keepJSON(form, data);
  else data.delete("beam:json");
  const url = find('[name="beam:do"][formaction]', form)?.getAttribute("formaction");
  try {
    const response = await fetch(url, {
      method: "POST",
      headers: { Accept: accept, "Datastar-Request": "true" },
      body: new URLSearchParams(data),
      signal: current.abort.signal,
    });
    if (!response.ok) throw new Error(response.status);
    return await response.text();
  } catch (error) {
    if (error.name !== "AbortError") showProblem(form, "Beam didn’t respond. The form and the JSON may differ.");
    return null;
  }
}

/** showProblem says what is wrong with the JSON, or nothing. */
function showProblem(form, text = "") {
  const list = find("#in-json-error", form);
  list.replaceChildren();
  if (text) list.append(Object.assign(document.createElement("p"), { className: "error", textContent: text }));
  jsonOf(form).toggleAttribute("aria-invalid", false);
  if (text) jsonOf(form).setAttribute("aria-invalid", "true");
}

/** writeJSON shows what the form would send. */
async function writeJSON(form) {
  const text = await request(form, "", "application/json");
  if (text === null) return;
  jsonOf(form).value = text;
  showProblem(form);
}

/** change shows the form as it is after an action of a button, or with the JSON. */
async function change(form, action) {
  const { version } = state(form);
  const text = await request(form, action, "text/html");
  if (text === null) return;
  if (state(form).version !== version) return change(form, action); // typed meanwhile
  const now = new DOMParser().parseFromString(text, "text/html").querySelector("form.tool-form");
  const fields = find(".fields", now);
  const before = document.activeElement;
  find(".fields", form).replaceWith(fields);
  if (action !== "fill") jsonOf(form).value = jsonOf(now).value;
  showProblem(form);
  const asked = find("[autofocus]", fields);
  if (asked) asked.focus();
  else if (before?.id && !before.isConnected) keepFocus(document.getElementById(before.id), before);
  const said = find(".said", fields)?.textContent;
  if (said) announce(said);
}

/** keepFocus gives the focus, and the place of the caret, to what replaces an element. */
function keepFocus(element, before) {
  element?.focus({ preventScroll: true });
  if (element?.matches("textarea, [type=text], [type=url], [type=password]")) element.setSelectionRange(before.selectionStart, before.selectionEnd);
}

function schedule(form, task, delay) {
  const current = state(form);
  clearTimeout(current.timer);
  current.timer = setTimeout(() => task(form), delay);
}

/** readJSON fills the form with the JSON, if it is some. */
function readJSON(form) {
  const problem = problemIn(jsonOf(form).value);
  return problem ? showProblem(form, `This isn’t JSON yet: ${problem}`) : change(form, "fill");
}

document.addEventListener("input", ({ target }) => {
  const form = formOf(target);
  if (!form || target.matches('.encode, .choice-filter, [name="beam:view"]') || !jsonOf(form)) return;
  state(form).version++;
  const isJSON = target === jsonOf(form);
  setSource(form, isJSON ? "json" : "form");
  if (isJSON) schedule(form, readJSON, 250);
  else if (target.closest(".changes")) schedule(form, (form) => change(form, "show"), target.matches("select, [type=radio], [type=checkbox]") ? 0 : 400);
  else schedule(form, writeJSON, 150);
});

document.addEventListener("submit", (event) => {
  const form = formOf(event.target), button = event.submitter;
  if (!form) return;
  clearTimeout(state(form).timer);
  if (button?.name !== "beam:do") return state(form).abort?.abort();
  event.preventDefault();
  setSource(form, "form");
  change(form, button.value);
});

// What the browser posts needs only one of the two.
document.addEventListener("formdata", ({ target, formData }) => {
  if (!formOf(target) || !jsonOf(target) || state(target).collects) return;
  if (formData.get("beam:source") === "form") formData.delete("beam:json");
  else keepJSON(target, formData);
});

document.addEventListener("click", async ({ target }) => {
  const button = target.closest?.(".copy-json");
  if (!button) return;
  const json = jsonOf(formOf(button));
  try {
    await navigator.clipboard.writeText(json.value);
  } catch { // only secure pages have a clipboard
    json.select();
    document.execCommand("copy");
  }
  button.textContent = "Copied";
  announce("Copied");
  setTimeout(() => (button.textContent = "Copy"), 2000);
});

/** linkQuery returns the query of an address that fills in the form with its arguments; "" if they can't be told. */
function linkQuery(form) {
  const query = new URLSearchParams();
  try {
    for (const [name, value] of Object.entries(JSON.parse(jsonOf(form).value.trim() || "{}"))) {
      query.set(name, typeof value === "string" ? value : JSON.stringify(value));
    }
  } catch {
    return "";
  }
  return query.size ? `?${query}` : "";
}

// The other pages about the photon get what the form has.
document.addEventListener("click", ({ target }) => {
  const link = target.closest?.("#photon-tabs a"), form = find("form.tool-form");
  if (link && form && jsonOf(form)) link.search = linkQuery(form);
});

document.addEventListener("click", async ({ target }) => {
  const button = target.closest?.(".copy-link");
  if (!button) return;
  const label = button.textContent;
  const url = new URL(find("#photon-tabs a").href);
  url.search = linkQuery(formOf(button));
  let copied = true;
  try {
    await navigator.clipboard.writeText(url.href);
  } catch {
    copied = false;
  }
  button.textContent = copied ? "Copied" : "Not copied";
  announce(copied ? "The link is copied to the clipboard." : "The browser blocked access to the clipboard.");
  setTimeout(() => (button.textContent = label), 2000);
});

// The content of a file becomes base64; a form has room for a small one.
const maxFile = 512 * 1024;
document.addEventListener("change", async ({ target }) => {
  const file = target.matches?.(".encode") && target.files[0];
  if (!file) return;
  if (file.size > maxFile) return announceProblem(target, `The file has more than ${maxFile / 1024} KB.`);
  const reader = new FileReader();
  reader.onload = () => {
    const text = find("textarea", target.closest(".field"));
    text.value = reader.result.slice(reader.result.indexOf(",") + 1);
    text.dispatchEvent(new Event("input", { bubbles: true }));
  };
  reader.readAsDataURL(file);
});

function announceProblem(input, text) {
  input.setCustomValidity(text);
  input.reportValidity();
  input.value = "";
  input.setCustomValidity("");
}

/** initToolForm shows what works with script only. */
export function initToolForm() {
  const form = find("form.tool-form");
  if (!form) return;
  form.classList.add("with-script");
  if (find('#in-json[aria-invalid="true"]', form) && !find(".fields [aria-invalid]", form)) setSource(form, "json");
}
