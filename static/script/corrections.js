// A field that the person corrects loses its error, and shows its rules again. The next
// submission checks it.

import { find, findAll } from "./dom.js";

/** shortenSummary removes a field's errors from the list above its form. */
function shortenSummary(field) {
  const summary = find('.summary[id$="-wrong"]', field.closest("dialog.ask") ?? field.closest("form"));
  if (!summary) return;
  const target = (link) => document.getElementById(link.hash.slice(1));
  for (const link of findAll("li a", summary)) if (target(link)?.closest(".field") === field) link.parentElement.remove();
  const left = new Set(findAll("li", summary).map((item) => find("a", item)?.hash ?? item)).size;
  if (left === 0) return summary.remove();
  summary.removeAttribute("role"); // the rest isn't news
  const heading = find("b", summary);
  heading.textContent = heading.textContent.replace(/\d+ (\w+?)s?$/, (_, what) => `${left} ${what}${left === 1 ? "" : "s"}`);
}

function clearError(field, error) {
  const own = (selector) => findAll(selector, field).filter((e) => e.closest(".field") === field);
  const [hint] = own(".hint[hidden]");
  if (hint) hint.hidden = false;
  for (const e of own("[aria-describedby]")) {
    const ids = e.getAttribute("aria-describedby").split(" ").map((id) => (id === error.id ? hint?.id : id)).filter(Boolean);
    ids.length ? e.setAttribute("aria-describedby", ids.join(" ")) : e.removeAttribute("aria-describedby");
  }
  for (const e of own("[aria-invalid]")) e.removeAttribute("aria-invalid");
  field.classList.remove("wrong");
  error.remove();
  shortenSummary(field);
}

document.addEventListener("input", ({ target }) => {
  const field = !target.matches(".choice-filter") && target.closest(".field.wrong");
  const error = field && find(':scope > [id$="-error"]', field);
  if (error) clearError(field, error);
});
