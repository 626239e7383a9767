// The timeline: following new rows, and the filter of log levels.

import { find } from "./dom.js";
import { tabStorage } from "./storage.js";

export const timeline = () => find("#timeline");
let following = false, followPaused = false, unseenRows = 0, pageHeight = 0;

const isAtBottom = () => innerHeight + scrollY >= document.documentElement.scrollHeight - 48;
const scrollToBottom = () => scrollTo({ top: document.documentElement.scrollHeight, behavior: "instant" });

function showFollowing() {
  const on = following && !followPaused;
  find("#follow")?.setAttribute("aria-pressed", String(on));
  const button = find("#new-rows");
  if (!button) return;
  if (on) unseenRows = 0;
  button.hidden = unseenRows === 0;
  button.textContent = `${unseenRows.toLocaleString("en")} new`;
}

function setFollowing(on) {
  followPaused = !on;
  following = on;
  if (on) scrollToBottom();
  showFollowing();
}

/** handleNewRows scrolls to the newest row, or counts new rows if not following. */
export function handleNewRows(rows) {
  const before = pageHeight;
  pageHeight = document.documentElement.scrollHeight;
  if (!following || followPaused) unseenRows += rows;
  else if (pageHeight !== before) scrollToBottom();
  if (rows > 0) showFollowing();
}

export function initFollowing() {
  if (!find("#follow")) return;
  const [navigation] = performance.getEntriesByType("navigation");
  following = navigation?.type === "navigate" && !location.hash ? true : isAtBottom();
  if (following) scrollToBottom();
  showFollowing();
  addEventListener("scroll", () => {
    following = isAtBottom();
    showFollowing();
  }, { passive: true });
  find("#follow").addEventListener("click", () => setFollowing(!(following && !followPaused)));
  find("#new-rows")?.addEventListener("click", () => {
    setFollowing(true);
    find("#follow")?.focus({ preventScroll: true });
  });
}

const levels = ["info", "warning", "error", "none"];

function filterLevels(level) {
  const section = find(".timeline-section");
  for (const l of levels) section.classList.toggle(`log-${l}`, l === level);
}

export function initLevelFilter() {
  const select = find("#levels");
  if (!select) return;
  select.value = levels.includes(tabStorage.get("beam:levels")) ? tabStorage.get("beam:levels") : "";
  filterLevels(select.value);
  select.addEventListener("change", () => {
    tabStorage.set("beam:levels", select.value);
    filterLevels(select.value);
  });
}
