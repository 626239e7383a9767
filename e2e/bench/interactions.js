// Measures how soon the page of a busy run reacts to a person, in a real Chromium against the
// real engine, and prints rows of a table: `make bench-page`. The run has sent 10,000 events, and goes on
// with 1,000 a second while its question waits. It never fails, since a slow machine is not a defect.
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { chromium } from "@playwright/test";
import { root } from "../support/build.js";
import { startProgram } from "../support/beam.js";

const rounds = Number(process.env.ROUNDS || 10), before = 10_000, perSecond = 1000;
const folder = mkdtempSync(join(tmpdir(), "beam-bench-"));
const program = join(folder, "busy");
execFileSync("go", ["build", "-o", program, "./e2e/bench/busy"], { cwd: root, stdio: "inherit" });
const beam = await startProgram(program);
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM || "/usr/bin/chromium", args: ["--no-sandbox", "--disable-background-networking"] });
const at = (list, part) => Math.round([...list].sort((a, b) => a - b)[Math.min(list.length - 1, Math.floor(list.length * part))]);
const all = [];
try {
  await measure();
} finally {
  await browser.close();
  await beam.stop();
  rmSync(folder, { recursive: true });
}

function say(what, took, aim = "") {
  console.log(`| ${what}: ${took.length} | ${at(took, 0.5)} ms at p50, ${at(took, 0.95)} ms at p95, ${at(took, 1)} ms at most | ${aim} |`);
}

async function measure() {
  console.log(`load ${loadavg()[0].toFixed(1)}`);
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, baseURL: beam.url });
  await context.addInitScript(noteInteractions);
  await context.request.get("/");
  const { url } = await (await context.request.post("/photons/busy/runs", { data: { before, perSecond } })).json();
  const page = await context.newPage();
  page.setDefaultTimeout(120_000); // a busy machine is to be measured, too
  await page.goto(url);
  const note = page.getByRole("textbox", { name: "Note" });
  await note.waitFor();
  await sayWork(context, page);
  const begun = Date.now(), received = () => page.evaluate(() => Number(document.querySelector("#hidden").textContent.replace(/\D/g, "")));
  const first = await received();

  const took = {}, tabs = [], palette = [];
  const record = async (what) => (took[what] ??= []).push(...(await page.evaluate("takeInteractions()")));
  for (let n = 0; n < rounds; n++) {
    await note.focus();
    await page.keyboard.type("It reacts at once. ", { delay: 20 });
    await record("a key typed into the answer");
    await page.locator("#levels").focus();
    for (const key of ["ArrowDown", "ArrowDown", "ArrowUp", "ArrowUp"]) await page.keyboard.press(key);
    await record("log lines filtered by level");
    const opened = await page.evaluate("performance.now()");
    await page.keyboard.press("Control+k");
    await page.locator("#palette-hits [role=option]").first().waitFor();
    palette.push((await page.evaluate("performance.now()")) - opened);
    await page.keyboard.type("kitchen", { delay: 20 });
    await page.keyboard.press("Escape");
    await record("the palette opened, typed into and closed");
    if (n === rounds - 1) say(`events of the busy run that arrived a second`, [((await received()) - first) / ((Date.now() - begun) / 1000)]);
    tabs.push(await follow(page, "Messages", ".messages > li"));
    const row = page.locator(".messages > li summary").first();
    for (let i = 0; i < 2; i++) await row.click();
    await record("a message expanded and folded");
    tabs.push(await follow(page, "Timeline", "#timeline > .row"));
  }
  for (const [what, list] of Object.entries(took)) say(what, list, "200 ms at p95");
  say("all of these", Object.values(took).flat(), "200 ms at p95");
  say("from Ctrl K until the first hits are shown", palette, "200 ms at p95");
  say("from the click on a tab until its page is drawn, with its rows", tabs, "200 ms at p95");
  await context.close();
}

/** sayWork measures how much processor time the page's main thread takes while nobody does anything. */
async function sayWork(context, page) {
  const cdp = await context.newCDPSession(page);
  await cdp.send("Performance.enable", { timeDomain: "threadTicks" });
  const used = async () => (await cdp.send("Performance.getMetrics")).metrics.find(({ name }) => name === "TaskDuration").value;
  const before = await used(), begun = performance.now();
  await page.evaluate(() => new Promise((done) => setTimeout(done, 10_000)));
  console.log(`| processor time of the page's main thread, of each second | ${(((await used()) - before) * 1e6 / (performance.now() - begun)).toFixed(0)} ms | |`);
  await cdp.detach();
}

/** follow presses a tab, and returns how long it took until its page was drawn with some rows. */
async function follow(page, name, rows) {
  await page.getByRole("link", { name, exact: true }).click({ noWaitAfter: true });
  await page.locator(rows).first().waitFor();
  return page.evaluate(() => new Promise((done) => requestAnimationFrame(() => setTimeout(() => done(performance.timeOrigin + performance.now() - Number(sessionStorage.getItem("bench:clicked")))))));
}

/**
 * noteInteractions records, on every page, how long each interaction took until its effect was
 * drawn: the longest of its events (Event Timing). Those of less than 16 ms are not told of, and count as 16.
 */
function noteInteractions() {
  const took = new Map(); // interaction → ms
  let pressed = 0;
  const note = (entries) => entries.forEach((e) => e.interactionId && took.set(e.interactionId, Math.max(took.get(e.interactionId) ?? 0, e.duration)));
  const observer = new PerformanceObserver((list) => note(list.getEntries()));
  observer.observe({ type: "event", durationThreshold: 16 });
  for (const type of ["keydown", "pointerdown"]) addEventListener(type, (event) => event.isTrusted && pressed++, true);
  addEventListener("click", (event) => event.target.closest?.(".tabs a") && sessionStorage.setItem("bench:clicked", performance.timeOrigin + event.timeStamp), true);
  globalThis.takeInteractions = async () => {
    await new Promise((done) => setTimeout(done, 500)); // entries come after the frame
    note(observer.takeRecords());
    const list = [...took.values()];
    while (list.length < pressed) list.push(16);
    took.clear();
    pressed = 0;
    return list;
  };
}
