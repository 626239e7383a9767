// Measures an answer in the chat, against the real binary, in the host page of the tests in
// a real Chromium: `make bench-page`. It never fails, since a slow machine is not a defect.
import { loadavg } from "node:os";
import { chromium } from "@playwright/test";
import { connectHost, openHost } from "../support/app-host.js";
import { start } from "../support/beam.js";
import { fillField } from "../support/run-page.js";

const rounds = Number(process.env.ROUNDS || 20);

const beam = await start();
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM || "/usr/bin/chromium", args: ["--no-sandbox", "--disable-background-networking"] });
const client = await connectHost(beam.url);
const page = await browser.newPage();
const host = await openHost(page, () => client);
try {
  const took = { next: [], end: [] };
  for (let n = 0; n < rounds; n++) await measureWizard(took);
  const acts = host.latency.filter(({ name }) => name === "beam_app_act").map(({ ms }) => ms);
  console.log(`\nload ${loadavg().map((n) => n.toFixed(1)).join(", ")}\n\n| in the chat | best | median | slowest | aim |\n|---|---|---|---|---|`);
  say("from the click on Submit until the view shows the run's next question", took.next);
  say("from the click on Confirm until the view shows that the run has completed", took.end);
  say("of which the host's call of `beam_app_act`", acts);
} finally {
  await host.close();
  await client.close();
  await browser.close();
  await beam.stop();
}

function say(what, list) {
  const sorted = [...list].sort((a, b) => a - b);
  console.log(`| ${what}, ${list.length} times | ${[sorted[0], sorted[Math.floor(sorted.length / 2)], sorted.at(-1)].map((ms) => `${Math.round(ms)} ms`).join(" | ")} | 100 ms |`);
}

/** measureWizard answers the three questions of a run as they come. */
async function measureWizard(took) {
  const { frame } = await host.call("wizard", {});
  const question = frame.locator("[data-ask]");
  await question.getByRole("heading").waitFor();
  const inner = page.frames().findLast((f) => f.url() === "about:srcdoc");
  await inner.evaluate(watchAnswers);
  for (const [button, values] of [["Submit", { name: "Ada" }], ["Submit", { email: "ada@example.org", role: "editor" }], ["Confirm", {}]]) {
    for (const [name, value] of Object.entries(values)) await fillField(question, name, value);
    await question.getByRole("button", { name: button, exact: true }).click();
    await inner.waitForFunction(() => window.shown !== undefined);
    (button === "Confirm" ? took.end : took.next).push(await inner.evaluate(() => window.shown));
    if (button === "Confirm") break;
    await inner.evaluate(() => (window.shown = undefined));
  }
  await page.evaluate(() => document.querySelector("section").remove());
}

/** watchAnswers runs in the view. It notes how long after a click what follows is drawn. */
function watchAnswers() {
  let clicked, question;
  const now = () => document.querySelector("[data-ask]")?.dataset.ask;
  addEventListener("click", (event) => {
    if (!event.target.closest("button[data-do]")) return;
    [clicked, question] = [event.timeStamp, now()];
  }, true);
  new MutationObserver(() => {
    const goesOn = now() ? now() !== question : document.querySelector("#state").textContent === "completed";
    if (clicked === undefined || !goesOn) return;
    const begun = clicked;
    clicked = undefined;
    requestAnimationFrame(() => setTimeout(() => (window.shown = performance.now() - begun)));
  }).observe(document.querySelector("main"), { childList: true, subtree: true, characterData: true });
}
