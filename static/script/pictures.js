// Charts as pictures, and their values: with the keyboard, or where the pointer is.

import { announce, createElement, find, findAll } from "./dom.js";

/** drawPNG draws the picture at a URL and returns it as a PNG, charts at twice their size. */
export async function drawPNG(url) {
  const picture = new Image();
  picture.src = url;
  await picture.decode();
  const scale = url.endsWith(".svg") ? 2 : 1;
  const canvas = document.createElement("canvas");
  canvas.width = (picture.naturalWidth || 300) * scale;
  canvas.height = (picture.naturalHeight || 150) * scale;
  canvas.getContext("2d").drawImage(picture, 0, 0, canvas.width, canvas.height);
  return new Promise((resolve, reject) => canvas.toBlob((blob) => (blob ? resolve(blob) : reject(new Error("no picture"))), "image/png"));
}

async function savePNG(button) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(await drawPNG(button.dataset.from));
  link.download = `${button.value}.png`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

document.addEventListener("click", (event) => {
  const button = event.target.closest?.("button.png");
  if (button) savePNG(button).catch(() => announce("The browser can’t draw this chart. Save it as SVG."));
});

const marksOf = (plot) => findAll("rect:has(> title)", plot);

/** showMark shows the values of one mark of a plot. */
function showMark(plot, mark) {
  const text = find("title", mark).textContent;
  for (const other of findAll(".current", plot)) other.classList.remove("current");
  mark.classList.add("current");
  const line = find(".reading", plot.closest(".artifact"));
  if (line) line.textContent = text;
  return text;
}

document.addEventListener("pointerover", (event) => {
  const mark = event.target.closest?.(".plot rect:has(> title)");
  if (mark) showMark(mark.closest(".plot"), mark);
});

const steps = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1, Home: -Infinity, End: Infinity };

document.addEventListener("keydown", (event) => {
  const plot = event.target.closest?.(".plot"), step = steps[event.key];
  if (!plot || !step || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  const marks = marksOf(plot);
  if (!marks.length) return;
  const now = marks.findIndex((m) => m.classList.contains("current"));
  const next = Math.min(Math.max(now < 0 ? (step === Infinity ? marks.length - 1 : 0) : now + step, 0), marks.length - 1);
  announce(showMark(plot, marks[next]));
});

// A picture, sound or video that can't be loaded says why, as the server does: a file may be
// damaged. Errors of media don't bubble.
document.addEventListener("error", async ({ target }) => {
  const source = target.matches?.("img.picture, audio.sound, video.film") && (target.currentSrc || target.src);
  if (!source || !source.startsWith(location.origin)) return;
  const response = await fetch(source, { headers: { Accept: "application/json" } }).catch(() => null);
  if (!response || response.ok) return;
  const { error } = await response.json().catch(() => ({}));
  if (error) target.replaceWith(createElement("p", "error", error.message));
}, true);
