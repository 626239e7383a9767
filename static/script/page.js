// The frame of a page: the count in its title, and the note about a lost connection.

import { announce, find } from "./dom.js";

export function updateTitleCount() {
  const n = find("#inbox .badge")?.textContent;
  const title = document.title.replace(/^\(\d[\d,]*\) /, "");
  const wanted = n ? `(${n}) ${title}` : title;
  if (document.title !== wanted) document.title = wanted;
  updateIcon(Boolean(n));
}

let plainIcon = ""; // its address

/** updateIcon marks the page's icon while questions are open, for a tab too narrow for its title. */
function updateIcon(asks) {
  const link = find("link[rel=icon]");
  if (!link || (link.dataset.asks === "true") === asks) return;
  plainIcon ||= link.href;
  link.dataset.asks = String(asks);
  link.href = asks ? askIcon : plainIcon;
}

const askIcon = `data:image/svg+xml,${encodeURIComponent(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="7" fill="#14161c"/><path d="M9 16 27 8v16z" fill="#ffb224" opacity=".35"/><path d="M9 16 27 12.500v7z" fill="#ffb224"/><circle cx="9" cy="16" r="4" fill="#fff"/><circle cx="24" cy="8" r="8" fill="#d93025"/></svg>`)}`;

/** initConnectionNote announces when the connection is lost and restored. */
export function initConnectionNote() {
  const away = find("#live .away");
  if (!away) return;
  let hidden = away.hidden; // Datastar sets it repeatedly
  new MutationObserver(() => {
    if (away.hidden === hidden) return;
    hidden = away.hidden;
    document.body.classList.toggle("disconnected", !hidden); // :has would be evaluated for each new row
    announce(hidden ? "Reconnected. The page is up to date." : "Connection lost. Reconnecting.");
  }).observe(away, { attributeFilter: ["hidden"] });
}
