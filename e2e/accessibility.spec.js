// Runs are accessible, in light, dark and forced colors: see playwright.config.js. So is
// every kind of question, see asks.spec.js, and every other page, see pages.spec.js.
import { test, expect } from "./support/fixtures.js";
import { expectAccessible } from "./support/axe.js";
import { dataset } from "./support/datasets.js";
import { askKitchenSink, dialog, expectEnd, field, pressButton, fillField, startRun, stop } from "./support/run-page.js";

test("a run that asks several questions is accessible", async ({ page }) => {
  await askKitchenSink(page, "all");
  await expect(dialog(page).first()).toBeVisible();
  await expectAccessible(page);
});

test("rejected fields, a postponed question and lists with runs are accessible", async ({ page }) => {
  await askKitchenSink(page, "form");
  await pressButton(dialog(page), "Submit");
  await expect(page.locator('[aria-invalid="true"]').first()).toBeVisible();
  await expect(dialog(page).getByRole("alert")).toHaveText(/^\s*Fix 2 fields\s*Enter a name\s*Enter an email\s*$/);
  await expectAccessible(page);

  await pressButton(dialog(page), "Later");
  await expect(dialog(page)).toBeHidden();
  await expectAccessible(page);
  for (const path of ["/runs", "/asks"]) {
    await page.goto(path);
    await expectAccessible(page);
  }
});

test("a finished run is accessible", async ({ page }) => {
  await askKitchenSink(page, "confirm");
  await pressButton(dialog(page), "Yes");
  await expectEnd(page, "completed");
  await expectAccessible(page);
});

test("earlier answers, and a question that was answered elsewhere, are accessible", async ({ page }) => {
  await startRun(page, "wizard");
  await fillField(dialog(page), "name", "Ada");
  await pressButton(dialog(page), "Submit");
  await expect(field(dialog(page), "email")).toBeVisible();
  await page.locator("#earlier summary").click();
  await expectAccessible(page);
  const { asks } = await (await page.request.get(page.url(), { headers: { Accept: "application/json" } })).json();
  await page.request.post("/mcp/request", { data: { jsonrpc: "2.0", id: asks[0].id, result: { action: "decline" } } });
  await expect(page.locator(".closed-note")).toBeVisible();
  await expectAccessible(page);
});

test("a table, a chart and a long list of choices are accessible", async ({ page }) => {
  await startRun(page, "explore_csv");
  await fillField(dialog(page), "file", { path: dataset("us-employment.csv") });
  await pressButton(dialog(page), "Submit");
  await dialog(page).getByRole("searchbox").first().fill("mining");
  await expect(dialog(page)).toContainText("1 of 24");
  await expectAccessible(page);
  await dialog(page).getByRole("searchbox").first().fill("");
  await fillField(dialog(page), "columns", ["construction"]);
  await fillField(dialog(page), "summary", "mean");
  await pressButton(dialog(page), "Submit");
  await pressButton(dialog(page), "Done");
  await expectEnd(page, "completed");
  await page.getByRole("columnheader").getByRole("button").last().click();
  await expectAccessible(page);
});

test.describe("a page whose connection is lost", () => {
  test.use({ tolerated: [/ERR_/] });
  test("is accessible", async ({ page, context }) => {
    await startRun(page, "countdown", { seconds: "60" });
    await expect(page.locator("#progress")).toBeVisible();
    await context.route("**/events*", (route) => route.abort());
    await page.reload();
    await expect(page.locator(".away")).toBeVisible();
    await expectAccessible(page);
    await context.unroute("**/events*");
    await page.reload(); // the pause before it tries again itself has grown
    await expect(page.locator(".away")).toBeHidden();
    await stop(page);
    await expectEnd(page, "stopped");
  });
});
