// Filters of long lists of choices.

import { find, findAll } from "./dom.js";

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
export function pickFirstChoice(box) {
  const first = findAll(".checkbox-row:not([hidden]) input, option[value]:not([value=''], [hidden])", box.closest(".field"))[0];
  if (!first) return;
  if (first.tagName !== "OPTION") return first.focus();
  const select = first.closest("select");
  select.value = first.value;
  select.focus();
  select.dispatchEvent(new Event("input", { bubbles: true }));
}

document.addEventListener("input", (event) => {
  if (event.target.matches(".choice-filter")) filterChoices(event.target);
});
