// The timeline: following new rows, and the filter of log levels.

import { find, setText } from "./dom.js";
import { tabStorage } from "./storage.js";

export const timeline = () => find("#timeline");
let following = false, followPaused = false;
const unseen = new Set(); // new rows that were never in sight, in order

/** visibleBottom returns where the visible part of the timeline ends, in the viewport. */
function visibleBottom() {
  const { left } = timeline().getBoundingClientRect();
  const tops = [find("#progress"), find("#asks")].flatMap((e) => {
    if (!e?.offsetHeight || getComputedStyle(e).position !== "sticky") return [];
    const box = e.getBoundingClientRect();
    return box.left <= left && box.top > 0 ? [box.top] : []; // not beside the timeline
  });
  return Math.min(innerHeight, ...tops);
}

function lastRow() {
  let row = timeline().lastElementChild;
  while (row && !row.offsetHeight) row = row.previousElementSibling; // filtered by level
  return row;
}

const lastRowBottom = () => lastRow()?.getBoundingClientRect().bottom ?? 0;
const isLastRowVisible = () => lastRowBottom() <= visibleBottom() + 1;

/** showLastRow scrolls down if the last row is out of sight. */
function showLastRow() {
  const below = lastRowBottom() - visibleBottom();
  if (below > 1) scrollBy({ top: below + 12, behavior: "instant" });
}

/**
 * showFollowing updates the controls. The rows count that nobody has seen, until the run
 * ends. It is called after every change of the page, so it must change nothing twice.
 */
function showFollowing() {
  const follow = find("#follow"), button = find("#new-rows");
  const pressed = String(following && !followPaused);
  if (follow && follow.ariaPressed !== pressed) follow.ariaPressed = pressed;
  if (!button) return;
  const bottom = unseen.size && visibleBottom();
  for (const row of unseen) {
    if (row.isConnected && row.getBoundingClientRect().top >= bottom) break;
    unseen.delete(row);
  }
  const hidden = unseen.size === 0 || !find(".run-head.live");
  if (button.hidden !== hidden) button.hidden = hidden;
  setText(button, `${unseen.size.toLocaleString("en")} new`);
}

function setFollowing(on) {
  followPaused = !on;
  following = on;
  if (on) showLastRow();
  showFollowing();
}

/** handleNewRows scrolls to the newest row, or counts the new rows if not following. */
export function handleNewRows(rows) {
  if (following && !followPaused) showLastRow();
  else for (const row of rows) if (row.matches?.(".row")) unseen.add(row);
  showFollowing();
}

export function initFollowing() {
  if (!find("#follow")) return;
  const [navigation] = performance.getEntriesByType("navigation");
  following = navigation?.type === "navigate" && !location.hash ? true : isLastRowVisible();
  if (following) showLastRow();
  showFollowing();
  addEventListener("scroll", () => {
    following = isLastRowVisible();
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
