// Buttons that copy the text beside them, or what they name.

import { fetchText, showCopied, writeClipboard } from "./clipboard.js";
import { find } from "./dom.js";
import { drawPNG } from "./pictures.js";

const blocked = "The browser blocked access to the clipboard.";

const copiers = {
  "copy-text": (button) => writeClipboard(find("pre, textarea", button.closest(".copyable")).textContent),
  "copy-content": async (button) => {
    const text = await fetchText(button.dataset.from);
    return text !== null && writeClipboard(text);
  },
  "copy-image": async (button) => {
    await navigator.clipboard.write([new ClipboardItem({ "image/png": drawPNG(button.dataset.from) })]);
    return true;
  },
};

document.addEventListener("click", async (event) => {
  const button = event.target.closest?.("button:is(.copy-text, .copy-content, .copy-image)");
  if (!button || /^(Not )?[Cc]opied$/.test(button.textContent)) return;
  const copy = copiers[[...button.classList].find((name) => name in copiers)];
  const copied = await copy(button).catch(() => false);
  showCopied(button, copied, "Copied to the clipboard.", blocked);
});
