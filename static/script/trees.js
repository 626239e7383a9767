// JSON trees: the arrow keys, and clicks, choose a value; a line below names its path, as a
// JSON Pointer (RFC 6901), and copies it.

import { showCopied, writeClipboard } from "./clipboard.js";
import { createElement, find, findAll } from "./dom.js";

const escapeToken = (name) => name.replaceAll("~", "~0").replaceAll("/", "~1");

// A value is a leaf, or the summary of an object or a list.
const values = (tree) => findAll(".leaf:not(:has(> a)), summary", tree).filter((v) => v.checkVisibility());

function pathOf(value) {
  const tree = value.closest(".json");
  let path = "";
  for (let node = value.matches("summary") ? value.parentElement : value; node !== tree; node = node.parentElement) {
    const name = find(":scope > .na, :scope > summary > .na", node);
    if (name && !node.matches(".members")) path = `/${escapeToken(name.value ?? name.textContent)}${path}`;
  }
  return (find(":scope > .root", tree)?.value ?? "") + path;
}

/** lineOf returns the line below a tree that names the path of the chosen value. */
function lineOf(tree) {
  if (tree.nextElementSibling?.matches(".path-line")) return tree.nextElementSibling;
  const line = createElement("p", "path-line js");
  const button = createElement("button", "link", "Copy path");
  button.type = "button";
  line.append("Path ", createElement("code", "path"), " ", button);
  tree.after(line);
  return line;
}

function choose(value) {
  const tree = value.closest(".json");
  for (const other of findAll(".chosen", tree)) other.classList.remove("chosen");
  value.classList.add("chosen");
  const line = lineOf(tree), path = pathOf(value);
  find(".path", line).textContent = path || "(all)";
  find("button", line).value = path;
}

function move(event, tree, value) {
  const all = values(tree), now = all.indexOf(value);
  const details = value.matches("summary") ? value.parentElement : null;
  let next = null;
  switch (event.key) {
    case "ArrowDown": next = all[now + 1]; break;
    case "ArrowUp": next = all[now - 1]; break;
    case "Home": next = all[0]; break;
    case "End": next = all.at(-1); break;
    case "ArrowRight":
      if (details && !details.open) details.open = true;
      else if (details) next = all[now + 1];
      break;
    case "ArrowLeft":
      if (details?.open) details.open = false;
      else next = find(":scope > summary", value.closest(".members")?.parentElement ?? tree);
      break;
    default: return;
  }
  event.preventDefault();
  if (!next) return;
  if (next.matches(".leaf")) next.tabIndex = -1;
  next.focus();
}

document.addEventListener("focusin", (event) => {
  const value = event.target.closest?.(".json :is(.leaf:not(:has(> a)), summary)");
  if (value) choose(value);
});

document.addEventListener("keydown", (event) => {
  const value = event.target.closest?.(".json :is(.leaf, summary)");
  if (!value || event.shiftKey || event.altKey) return;
  if (!event.ctrlKey && !event.metaKey) move(event, value.closest(".json"), value);
});

document.addEventListener("click", (event) => {
  const value = event.target.closest?.(".json .leaf:not(:has(> a))");
  if (value && !String(getSelection())) {
    value.tabIndex = -1;
    value.focus();
  }
  const button = event.target.closest?.(".path-line button");
  if (button) copyPath(button);
});

async function copyPath(button) {
  const copied = await writeClipboard(button.value);
  showCopied(button, copied, `${button.value || "An empty path"} is copied to the clipboard.`, "The browser blocked access to the clipboard.");
}
