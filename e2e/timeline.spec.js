// The timeline during and after a run.
import { test, expect } from "./support/fixtures.js";
import { dataset } from "./support/datasets.js";
import { askKitchenSink, copyWith, dialog, expectEnd, expectResult, expectSet, pressButton, fillField, startRun, stop } from "./support/run-page.js";

test("log lines are filtered by level, also after a reload", async ({ page }) => {
  await askKitchenSink(page, "text");
  const line = (level) => page.locator("#timeline .r-log").filter({ hasText: `level ${level}` });
  const levels = page.getByRole("combobox", { name: "Log lines" });
  await expect(line("debug")).toBeVisible();
  await levels.selectOption("warning");
  for (const level of ["debug", "info", "notice"]) await expect(line(level)).toBeHidden();
  for (const level of ["warning", "error", "emergency"]) await expect(line(level)).toBeVisible();
  await page.reload();
  await expect(line("info")).toBeHidden();
  await levels.selectOption("");
  await expect(line("debug")).toBeVisible();
});

test("the page follows the newest row until the person scrolls up", async ({ page }) => {
  await page.setViewportSize({ width: 1280, height: 500 });
  await askKitchenSink(page, "text");
  const atEnd = () => page.locator("#timeline > .row").last().evaluate((row) => row.getBoundingClientRect().bottom <= innerHeight);
  await expect.poll(atEnd).toBe(true);
  const follow = page.getByRole("button", { name: "Follow" });
  await expect(follow).toHaveAttribute("aria-pressed", "true");

  await page.evaluate(() => scrollTo(0, 0));
  await expect(follow).toHaveAttribute("aria-pressed", "false");
  await fillField(dialog(page), "text", "Ada");
  await pressButton(dialog(page), "Submit");
  await expectEnd(page, "completed");
  await expect.poll(atEnd).toBe(false);
  await expect(page.getByRole("button", { name: /^\d+ new$/ })).toBeHidden(); // the run has ended
});

test("new rows are counted while they are out of sight, and followed only then", async ({ page }) => {
  await page.setViewportSize({ width: 1280, height: 700 });
  await startRun(page, "explore_csv");
  await expect(dialog(page)).toBeVisible();
  const last = page.locator("#timeline > .row").last();
  await expect(last).toBeInViewport({ ratio: 1 });
  await page.getByRole("button", { name: "Follow" }).click();
  await fillField(dialog(page), "file", { path: dataset("seattle-weather.csv") });
  await pressButton(dialog(page), "Submit");
  const newer = page.getByRole("button", { name: /^\d+ new$/ });
  await expect(page.locator("#timeline > .r-ask")).toHaveCount(2);
  await expect(newer).toBeVisible();
  await expect(last).not.toBeInViewport();
  const unseen = Number.parseInt(await newer.textContent(), 10);
  await page.locator("#timeline > .r-artifact").last().evaluate((row) => scrollBy(0, row.getBoundingClientRect().top - innerHeight + 60));
  await expect.poll(async () => Number.parseInt(await newer.textContent(), 10)).toBeLessThan(unseen);
  await newer.click();
  await expect(newer).toBeHidden();
  await expect(last).toBeInViewport({ ratio: 1 });
  await expect(page.getByRole("banner")).toBeInViewport({ ratio: 1 });
  await expect(page.getByRole("link", { name: /^Inbox/ })).toBeInViewport();
});

test("elapsed time ticks", async ({ page }) => {
  await startRun(page, "countdown", { seconds: "60" });
  const elapsed = page.locator(".elapsed");
  await expect(elapsed).toHaveText(/^0:(0[2-9]|[1-5]\d)$/);
  await stop(page);
  await expectEnd(page, "stopped");
});

test.describe("a table", () => {
  test.use({ contextOptions: { permissions: ["clipboard-read", "clipboard-write"], reducedMotion: "reduce" } });

  test("is sorted and copied", async ({ page }) => {
    await startRun(page, "explore_csv");
    await fillField(dialog(page), "file", { path: dataset("seattle-weather.csv") });
    await pressButton(dialog(page), "Submit");
    await fillField(dialog(page), "columns", ["wind"]);
    await fillField(dialog(page), "summary", "mean");
    await fillField(dialog(page), "groupBy", "weather");
    await pressButton(dialog(page), "Submit");
    await pressButton(dialog(page), "Done");
    await expectEnd(page, "completed");
    await page.getByText("Show data as a table").click();

    const artifact = page.locator(".artifact").filter({ has: page.getByRole("table", { name: /^Mean of wind/ }) }).first();
    const first = () => artifact.locator("tbody td:first-child").allTextContents();
    const before = await first();
    const head = artifact.getByRole("columnheader").nth(1);
    const numbers = async () => (await artifact.locator("tbody td:nth-child(2)").allTextContents()).map(Number);
    await head.getByRole("button").click();
    await expect(head).toHaveAttribute("aria-sort", "ascending");
    const ascending = (await numbers()).sort((a, b) => a - b);
    await expect.poll(numbers).toEqual(ascending);
    await head.getByRole("button").click();
    await expect(head).toHaveAttribute("aria-sort", "descending");
    await expect.poll(numbers).toEqual(ascending.toReversed());
    const sorted = await first();
    await copyWith(artifact.getByRole("button", { name: "Copy as CSV" }));
    const copied = (await page.evaluate(() => navigator.clipboard.readText())).trim().split("\n");
    expect(copied.slice(1).map((line) => line.split(",")[0])).toEqual(sorted);
    await head.getByRole("button").click();
    await expect.poll(first).toEqual(before);
  });
});

test("a run is repeated with the same input or another", async ({ page }) => {
  await askKitchenSink(page, "confirm");
  await pressButton(dialog(page), "Yes");
  await expectEnd(page, "completed");
  const before = page.url();
  await page.getByRole("button", { name: "Run again", exact: true }).click();
  await expect(page).not.toHaveURL(before);
  await expect(dialog(page)).toContainText("Continue?");
  await pressButton(dialog(page), "Yes");
  await expectResult(page, { action: "accept", answer: true });
  await page.getByRole("link", { name: "Edit and run again" }).click();
  await expect(page).toHaveURL(/\/photons\/kitchen_sink\?/);
  await expectSet(page.getByRole("main"), "ask", "confirm");
});

/** drawn waits for a number of frames. */
const drawn = (page, frames) =>
  page.evaluate(
    (left) => new Promise((done) => {
      const tick = () => (left-- > 0 ? requestAnimationFrame(tick) : done());
      tick();
    }),
    frames,
  );

test("a page that waits for an answer rests", async ({ page }) => {
  await askKitchenSink(page, "form");
  await expect(dialog(page)).toBeVisible();
  await page.evaluate(() => {
    globalThis.changed = [];
    const observer = new MutationObserver((all) => changed.push(...all.map(({ target }) => target.outerHTML ?? target.data)));
    observer.observe(document, { childList: true, subtree: true, characterData: true, attributes: true });
  });
  const clock = /data-on-interval/;
  // It comes to rest: how soon after the question depends on the machine.
  await expect.poll(async () => {
    await page.evaluate(() => (globalThis.changed.length = 0));
    await drawn(page, 60);
    return (await page.evaluate(() => changed)).filter((html) => !clock.test(html));
  }).toEqual([]);
});

test("the layout does not shift during a run", async ({ page }) => {
  await page.addInitScript(() => {
    globalThis.shifts = [];
    new PerformanceObserver((list) => {
      for (const s of list.getEntries()) if (!s.hadRecentInput) shifts.push([s.value, s.sources.map((x) => x.node?.outerHTML?.slice(0, 120))]);
    }).observe({ type: "layout-shift", buffered: true });
    // What an animation moves is no layout shift, and as unpleasant under a pointer.
    globalThis.moved = [];
    const watch = () => {
      for (const e of document.querySelectorAll("dialog.ask[open]")) {
        const dock = e.offsetParent?.getBoundingClientRect().top;
        if (dock !== undefined && Math.abs(e.getBoundingClientRect().top - dock - e.offsetTop) > 1) moved.push(e.id);
      }
      requestAnimationFrame(watch);
    };
    requestAnimationFrame(watch);
  });
  await page.goto("/");
  await page.goto("/photons/kitchen_sink");
  expect(await page.evaluate(() => shifts.filter(([v]) => v > 0.01))).toEqual([]);
  await askKitchenSink(page, "text");
  await expect(dialog(page)).toBeVisible();
  await drawn(page, 30);
  expect(await page.evaluate(() => shifts.filter(([v]) => v > 0.05))).toEqual([]);
  expect(await page.evaluate(() => moved)).toEqual([]);
});
