// Copying to the clipboard.

import { announce, createElement } from "./dom.js";

const maxCopied = 20_000_000; // bytes

/** fetchText returns the text at a URL; null if it is too large to copy, or can't be loaded. */
export async function fetchText(url) {
  try {
    const response = await fetch(url);
    if (!response.ok) return null;
    const decoder = new TextDecoder();
    let text = "", size = 0;
    for (const reader = response.body.getReader(); ; ) {
      const { done, value } = await reader.read();
      if (done) return text + decoder.decode();
      if ((size += value.length) > maxCopied) {
        reader.cancel();
        return null;
      }
      text += decoder.decode(value, { stream: true });
    }
  } catch {
    return null;
  }
}

export async function writeClipboard(text) {
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

/** showCopied says on a button, and to screen readers, whether something was copied. */
export function showCopied(button, copied, done, problem) {
  const label = [...button.childNodes];
  button.replaceChildren(copied ? "Copied" : "Not copied");
  announce(copied ? done : problem);
  setTimeout(() => button.replaceChildren(...label), 1500);
}
