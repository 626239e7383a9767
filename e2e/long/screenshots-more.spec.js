// Screenshots of the states that screenshots.spec.js doesn't cover.
import { test, expect } from "../support/fixtures.js";
import { dataset } from "../support/datasets.js";
import { takeScreenshot } from "../support/screenshots.js";
import { askKitchenSink, dialog, expectEnd, field, pressButton, fillField, startRun, stop } from "../support/run-page.js";

test("shortcuts and search", async ({ page }) => {
  await page.goto("/?q=nothing+like+it");
  await takeScreenshot(page, "search-none");
  await page.goto("/");
  await page.keyboard.press("?");
  await takeScreenshot(page, "keys");
});

test("earlier answers, and a question that was answered elsewhere", async ({ page }) => {
  await startRun(page, "wizard");
  await fillField(dialog(page), "name", "Ada Lovelace");
  await pressButton(dialog(page), "Submit");
  await expect(field(dialog(page), "email")).toBeVisible();
  await takeScreenshot(page, "ask-second");
  const { asks } = await (await page.request.get(page.url(), { headers: { Accept: "application/json" } })).json();
  await page.request.post("/mcp/request", { data: { jsonrpc: "2.0", id: asks[0].id, result: { action: "decline" } } });
  await expect(page.locator(".closed-note")).toBeVisible();
  await takeScreenshot(page, "ask-closed");
});

test("confirmation of a stop, and the runs in a state", async ({ page }) => {
  await askKitchenSink(page, "text");
  await pressButton(dialog(page), "Later");
  await page.keyboard.press("s");
  await takeScreenshot(page, "stop");
  await page.getByRole("button", { name: "Stop the run" }).click();
  await expectEnd(page, "stopped");
  await page.goto("/runs?state=stopped");
  await takeScreenshot(page, "runs-stopped");
});

test("a long list of choices, a wide screen, print and forced colors", async ({ page }) => {
  await startRun(page, "explore_csv");
  await fillField(dialog(page), "file", { path: dataset("us-employment.csv") });
  await pressButton(dialog(page), "Submit");
  await expect(field(dialog(page), "columns")).toBeVisible();
  await takeScreenshot(page, "ask-long-list");
  await pressButton(dialog(page), "Submit");
  await pressButton(dialog(page), "Done");
  await expectEnd(page, "completed");
  const capture = (name) => page.screenshot({ path: `${import.meta.dirname}/../screenshots/${name}.png` });
  await page.emulateMedia({ forcedColors: "active", colorScheme: "dark" });
  await capture("result-forced-colors");
  await page.emulateMedia({ forcedColors: "none", colorScheme: "light", media: "print" });
  await capture("result-print");
  await page.emulateMedia({ media: "screen" });
  await page.setViewportSize({ width: 1920, height: 1080 });
  await capture("result-wide");
});

test.describe("a lost connection", () => {
  test.use({ tolerated: [/ERR_/] });
  test("is shown", async ({ page, context }) => {
    await startRun(page, "countdown", { seconds: "60" });
    await context.route("**/events*", (route) => route.abort());
    await page.reload();
    await expect(page.locator(".away")).toBeVisible();
    await takeScreenshot(page, "lost");
    await context.unroute("**/events*");
    await stop(page);
  });
});
