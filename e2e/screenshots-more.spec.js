// More of what Beam looks like: the states that screenshots.spec.js doesn't reach.
import { test, expect } from "./support/fixtures.js";
import { dataset } from "./support/datasets.js";
import { picture } from "./support/screenshots.js";
import { askKitchenSink, dialog, expectEnd, field, press, set, startRun, stop } from "./support/run-page.js";

test("the keys and the search", async ({ page }) => {
  await page.goto("/?q=nothing+like+it");
  await picture(page, "search-none");
  await page.goto("/");
  await page.keyboard.press("?");
  await picture(page, "keys");
});

test("earlier answers, and a question that was answered elsewhere", async ({ page }) => {
  await startRun(page, "wizard");
  await set(dialog(page), "name", "Ada Lovelace");
  await press(dialog(page), "Submit");
  await expect(field(dialog(page), "email")).toBeVisible();
  await picture(page, "ask-second");
  const { asks } = await (await page.request.get(page.url(), { headers: { Accept: "application/json" } })).json();
  await page.request.post("/mcp/request", { data: { jsonrpc: "2.0", id: asks[0].id, result: { action: "decline" } } });
  await expect(page.locator(".closed-note")).toBeVisible();
  await picture(page, "ask-closed");
});

test("a stop that is asked for, and the runs in a state", async ({ page }) => {
  await askKitchenSink(page, "text");
  await press(dialog(page), "Later");
  await page.keyboard.press("s");
  await picture(page, "stop");
  await page.getByRole("button", { name: "Stop the run" }).click();
  await expectEnd(page, "stopped");
  await page.goto("/runs?state=stopped");
  await picture(page, "runs-stopped");
});

test("a long list of choices, a wide screen, print and forced colours", async ({ page }) => {
  await startRun(page, "csv");
  await set(dialog(page), "file", { path: dataset("us-employment.csv") });
  await press(dialog(page), "Submit");
  await expect(field(dialog(page), "columns")).toBeVisible();
  await picture(page, "ask-long-list");
  await press(dialog(page), "Submit");
  await expectEnd(page, "completed");
  const shoot = (name) => page.screenshot({ path: `${import.meta.dirname}/screenshots/${name}.png` });
  await page.emulateMedia({ forcedColors: "active", colorScheme: "dark" });
  await shoot("result-forced-colours");
  await page.emulateMedia({ forcedColors: "none", colorScheme: "light", media: "print" });
  await shoot("result-print");
  await page.emulateMedia({ media: "screen" });
  await page.setViewportSize({ width: 1920, height: 1080 });
  await shoot("result-wide");
});

test.describe("a lost connection", () => {
  test.use({ tolerated: [/ERR_/] });
  test("looks like one", async ({ page, context }) => {
    await startRun(page, "countdown", { seconds: "60" });
    await context.route("**/events*", (route) => route.abort());
    await page.reload();
    await expect(page.locator(".away")).toBeVisible();
    await picture(page, "lost");
    await context.unroute("**/events*");
    await stop(page);
  });
});
