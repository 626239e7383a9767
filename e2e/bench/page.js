// Measures the page against the real binary in a real Chromium and prints a table:
// `make bench-page`. It never fails, since a slow machine is not a defect.
import { cpus } from "node:os";
import { readFileSync } from "node:fs";
import { chromium } from "@playwright/test";
import build from "../support/build.js";
import { start } from "../support/beam.js";
import { startModelServer } from "../support/model-server.js";
import { prepareBurst, runBurst, shown } from "../support/burst.js";
import { readStalls, watchStalls, measurePage } from "../support/page-timing.js";

const rounds = 5, starts = Number(process.env.STARTS || 20);
const median = (list) => [...list].sort((a, b) => a - b)[Math.floor(list.length / 2)];
const ms = (list) => `${Math.round(Math.min(...list))} ms at best, ${Math.round(median(list))} ms the median of ${list.length}`;
const rows = [];
const say = (what, figure, aim = "") => {
  rows.push([what, figure, aim]);
  console.log(`| ${what} | ${figure} | ${aim} |`);
};

build();
console.log(`${cpus().length} cores, ${cpus()[0].model}; Node ${process.version}\n\n| what | figure | aim |\n|---|---|---|`);

await measureProcess();
const beam = await start();
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM || "/usr/bin/chromium", args: ["--no-sandbox", "--disable-background-networking"] });
try {
  await pages();
  await burst(10_000, "1 s, all in order");
  await burst(100_000, "no freezing, bounded");
  await tokens(3_000);
} finally {
  await browser.close();
  await beam.stop();
}

/** measureProcess measures how soon the program listens and its memory when idle. */
async function measureProcess() {
  const took = [], held = [];
  for (let n = 0; n < starts; n++) {
    const begun = performance.now();
    const one = await start();
    took.push(performance.now() - begun);
    held.push(Number(readFileSync(`/proc/${one.pid}/status`, "utf8").match(/VmRSS:\s+(\d+)/)[1]) / 1000);
    await one.stop();
  }
  say("from exec to the address it listens at", ms(took), "50 ms");
  say("resident memory when idle", `${median(held).toFixed(0)} MB`, "30 MB");
}

/** tokens measures how soon the tokens of a model's reply, 1,000 a second, are on the page. */
async function tokens(count) {
  const models = await startModelServer();
  const beam = await start("--models", models.models);
  const page = await browser.newPage();
  try {
    await page.goto(`${beam.url}/photons/summarize`);
    await page.locator('[name="text"]').fill("x");
    await page.getByRole("button", { name: "Run", exact: true }).click();
    await page.getByRole("button", { name: "Approve", exact: true }).click();
    const call = await models.next();
    call.say("");
    await page.locator(".reply-text").waitFor();
    await page.evaluate(() => {
      window.arrivals = []; // how many tokens the page had, and when
      const text = document.querySelector(".reply-text");
      new MutationObserver(() => window.arrivals.push([text.textContent.split(" ").length - 1, Date.now()])).observe(text, { childList: true, characterData: true, subtree: true });
    });
    const sent = [], begun = performance.now();
    while (sent.length < count) {
      await new Promise((resolve) => setTimeout(resolve, 1));
      while (sent.length < Math.min(count, performance.now() - begun)) {
        call.say(`${sent.length} `);
        sent.push(Date.now());
      }
    }
    await page.waitForFunction((n) => window.arrivals.at(-1)?.[0] >= n, count);
    const delays = [];
    for (const [tokens, at] of await page.evaluate("arrivals")) {
      while (delays.length < tokens) delays.push(at - sent[delays.length]);
    }
    delays.sort((a, b) => a - b);
    say(`a model's token is on the page, ${count} at 1,000 a second`, `${delays[count / 2]} ms at p50, ${delays[Math.floor(count * 0.95)]} ms at p95, none lost`, "80 ms at p95");
    call.finish();
  } finally {
    await page.close();
    await beam.stop();
    await models.stop();
  }
}

async function fresh() {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, baseURL: beam.url });
  await watchStalls(context);
  return context;
}

/** pages measures a first visit: what the browser loads, from where, and how soon the page is usable. */
async function pages() {
  for (const [name, path] of [["the first page", "/"], ["a photon's page", "/photons/kitchen_sink"], ["a run's page", null]]) {
    const ready = [], bytes = [], shifts = [];
    const others = new Set();
    for (let n = 0; n < rounds; n++) {
      const context = await fresh();
      const to = path ?? (await started(context, "kitchen_sink", { ask: "form" }));
      const page = await context.newPage();
      page.on("request", (request) => new URL(request.url()).origin === beam.url || others.add(request.url()));
      const cdp = await context.newCDPSession(page);
      await cdp.send("Network.enable");
      let loaded = 0;
      cdp.on("Network.loadingFinished", (event) => (loaded += event.encodedDataLength));
      await page.goto(to, { waitUntil: "load" });
      await page.locator("#live").waitFor({ state: "attached" });
      ready.push(await page.evaluate(() => {
        const [navigation] = performance.getEntriesByType("navigation");
        return Math.max(navigation.domContentLoadedEventEnd, performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? 0);
      }));
      await frames(page, 60);
      bytes.push(loaded / 1000);
      shifts.push((await readStalls(page)).shift);
      await context.close();
    }
    say(`${name}: scripts have run and something is drawn`, ms(ready), "300 ms");
    say(`${name}: all that is loaded, compressed, with headers`, `${Math.max(...bytes).toFixed(1)} KB`, "80 KB");
    say(`${name}: requests to other hosts; layout shift`, `${others.size}; ${Math.max(...shifts).toFixed(3)}`, "0; 0");
  }
}

function frames(page, n) {
  return page.evaluate((left) => new Promise((done) => {
    const tick = () => (left-- > 0 ? requestAnimationFrame(tick) : done());
    tick();
  }), n);
}

/** started starts a run over HTTP in the session of a context. */
async function started(context, photon, args) {
  await context.request.get("/");
  return (await (await context.request.post(`/photons/${photon}/runs`, { data: args })).json()).url;
}

/** burst measures the time from the click on Run until the page shows the end of the burst, and a click meanwhile. */
async function burst(events, aim) {
  const took = [], clicks = [], longest = { frame: 0, task: 0 };
  let nodes = 0, heap = 0, complete = true;
  for (let n = 0; n < rounds; n++) {
    const context = await fresh();
    await context.addInitScript(noteClicksAndEnd);
    const page = await context.newPage();
    await prepareBurst(page, events);
    const before = await measurePage(page);
    const run = page.waitForURL(/\/runs\//, { waitUntil: "commit" });
    await runBurst(page);
    await run;
    await page.locator("#show-keys").click({ noWaitAfter: true });
    await page.waitForFunction(() => globalThis.done, null, { timeout: 60_000 });
    took.push(await page.evaluate(() => done - Number(sessionStorage.getItem("bench:clicked"))));
    clicks.push(await page.evaluate(() => answered));
    const s = await readStalls(page);
    for (const kind of ["frame", "task"]) longest[kind] = Math.max(longest[kind], s[kind]);
    const now = await measurePage(page);
    nodes = Math.max(nodes, now.nodes);
    heap = Math.max(heap, now.heap - before.heap);
    const { numbers, hidden, rows: inSight } = await shown(page);
    const ordered = numbers.every((number, i) => i === 0 || number > numbers[i - 1]);
    complete = complete && ordered && hidden + inSight === events - Math.floor(events / 10) + 2;
    await context.close();
  }
  const name = `${events.toLocaleString("en")} events`;
  say(`${name}: from the click on Run until all are in the timeline or its count, ${complete ? "in order" : "NOT ALL, OR NOT IN ORDER"}`, ms(took), aim);
  say(`${name}: a click meanwhile, until what it opens is drawn`, ms(clicks));
  say(`${name}: longest time between two frames; longest task`, `${Math.round(longest.frame)} ms; ${Math.round(longest.task)} ms`);
  say(`${name}: nodes in the page; memory of its script more than before`, `${nodes.toLocaleString("en")}; ${(heap / 1e6).toFixed(1)} MB`, "bounded");
}

/** noteClicksAndEnd runs in the page. Both documents share a clock. */
function noteClicksAndEnd() {
  const clock = () => performance.timeOrigin + performance.now();
  addEventListener("click", (event) => event.target.closest?.("form.sheet button") && sessionStorage.setItem("bench:clicked", clock()), true);
  const end = () => (document.querySelector("#timeline .r-result") ? (globalThis.done = clock()) : requestAnimationFrame(end));
  requestAnimationFrame(end);
  addEventListener("click", (event) => {
    if (event.target.id === "show-keys") requestAnimationFrame(() => setTimeout(() => (globalThis.answered = performance.now() - event.timeStamp)));
  }, true);
}
