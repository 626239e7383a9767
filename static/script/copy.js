// Buttons that copy the text beside them.

import { announce, find } from "./dom.js";

document.addEventListener("click", async (event) => {
  const button = event.target.closest?.("button.copy-text");
  if (!button) return;
  const label = button.textContent;
  let copied = true;
  try {
    await navigator.clipboard.writeText(find("pre, textarea", button.closest(".copyable")).textContent);
  } catch {
    copied = false;
  }
  button.textContent = copied ? "Copied" : "Not copied";
  announce(copied ? "Copied to the clipboard." : "The browser blocked access to the clipboard.");
  setTimeout(() => (button.textContent = label), 1500);
});
