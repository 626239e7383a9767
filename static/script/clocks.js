// Clocks: deadlines, ages, and how long the latest status has been in effect.

import { find, findAll, setText } from "./dom.js";
import { timeline } from "./timeline.js";

const formatDuration = (ms) => {
  const s = Math.floor(ms / 1000);
  if (s < 60) return `${s} s`;
  if (s < 3600) return `${Math.floor(s / 60)} min ${s % 60} s`;
  return s < 172800 ? `${Math.floor(s / 3600)} h ${Math.floor(s / 60) % 60} min` : `${Math.floor(s / 86400)} days`;
};

const deadlines = new WeakMap(); // element → [data-left as rendered, when it expires]

function updateDeadlines() {
  for (const e of findAll(".deadline")) {
    const said = e.dataset.left;
    if (deadlines.get(e)?.[0] !== said) deadlines.set(e, [said, performance.now() + Number(said)]);
    const left = deadlines.get(e)[1] - performance.now();
    setText(e, left > 0 ? `expires in ${formatDuration(left)}` : "has expired");
  }
}

/** updateOpenStatus shows how long the latest status has been in effect. */
function updateOpenStatus() {
  if (!find(".run-head.running")) return;
  const last = findAll(".r-status, .r-ask", timeline()).at(-1);
  const lasted = last && find(".lasted", last);
  if (!lasted || (lasted.textContent.trim() && !lasted.classList.contains("ticking"))) return;
  const seconds = (text) => (text ?? "").trim().split(":").reduce((sum, part) => sum * 60 + Number(part), 0);
  const ms = 1000 * (seconds(find(".elapsed")?.textContent) - seconds(find(".when", last).textContent));
  if (!(ms >= 2000)) return;
  lasted.classList.add("ticking");
  setText(lasted, formatDuration(ms));
}

const formatRoughDuration = (ms) => (ms < 3_600_000 && ms >= 60_000 ? formatDuration(ms).replace(/ \d+ s$/, "") : ms < 172_800_000 && ms >= 3_600_000 ? formatDuration(ms).replace(/ \d+ min$/, "") : formatDuration(ms));

/** updateAges updates relative times and sets tooltips with the absolute times. */
function updateAges() {
  for (const t of findAll("time.ago, time.since")) {
    const ms = Date.now() - Date.parse(t.dateTime), now = ms < 10_000;
    const text = t.matches(".since") ? (now ? "now" : formatRoughDuration(ms).replace("days", "d")) : now ? "just now" : `${formatRoughDuration(ms)} ago`;
    setText(t, text);
    t.title ||= new Date(t.dateTime).toLocaleString();
  }
}

export function startClocks() {
  updateAges();
  setInterval(() => {
    updateDeadlines();
    updateOpenStatus();
  }, 1000);
  setInterval(updateAges, 20_000);
}
