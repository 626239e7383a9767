// Shorthands for the DOM.

export const find = (selector, within = document) => within.querySelector(selector);
export const findAll = (selector, within = document) => [...within.querySelectorAll(selector)];
export const createElement = (tag, classes, text = "") => {
  const e = document.createElement(tag);
  e.className = classes;
  e.textContent = text;
  return e;
};

/** setText changes an element's text, unless it is the same: observers would see a change. */
export function setText(e, text) {
  if (e.textContent !== text) e.textContent = text;
}

/** announce writes to the page's only live region, after the server's announcement. */
export function announce(text) {
  setTimeout(() => {
    const region = find("#announce");
    if (region) region.textContent = text;
  }, 150);
}

export const isTextInput = (e) =>
  e?.isContentEditable || e?.matches?.("textarea, select, input:not([type=checkbox], [type=radio], [type=button], [type=submit])");
