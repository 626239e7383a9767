// Screenshots of pages and questions in e2e/screenshots/.
import { test, expect } from "../support/fixtures.js";
import { dataset } from "../support/datasets.js";
import { kinds } from "../support/question-kinds.js";
import { takeScreenshot } from "../support/screenshots.js";
import { askKitchenSink, dialog, expectEnd, pressButton, fillField, startRun, stop } from "../support/run-page.js";

for (const [name, path] of Object.entries({
  start: "/",
  photon: "/photons/kitchen_sink",
  "runs-empty": "/runs",
  "asks-empty": "/asks",
})) {
  test(name, async ({ page }) => {
    await page.goto(path);
    await takeScreenshot(page, name);
  });
}

for (const kind of [...Object.keys(kinds), "all"]) {
  test(`ask ${kind}`, async ({ page }) => {
    await askKitchenSink(page, kind);
    await expect(dialog(page).first()).toBeVisible();
    await takeScreenshot(page, `ask-${kind}`);
  });
}

test("a form rejected, postponed, stopped", async ({ page }) => {
  await askKitchenSink(page, "form");
  await pressButton(dialog(page), "Submit");
  await expect(page.locator('[aria-invalid="true"]').first()).toBeVisible();
  await takeScreenshot(page, "form-refused");
  await pressButton(dialog(page), "Later");
  await takeScreenshot(page, "form-parked");
  await page.goto("/asks");
  await takeScreenshot(page, "asks");
  await page.goBack();
  await pressButton(dialog(page), "Later");
  await stop(page);
  await expectEnd(page, "stopped");
  await takeScreenshot(page, "stopped");
  await page.goto("/runs");
  await takeScreenshot(page, "runs");
});

test("explore_csv from the file to the chart", async ({ page }) => {
  await startRun(page, "explore_csv");
  await takeScreenshot(page, "csv-file");
  await fillField(dialog(page), "file", { path: dataset("seattle-weather.csv") });
  await pressButton(dialog(page), "Submit");
  await fillField(dialog(page), "columns", ["precipitation", "wind"]);
  await fillField(dialog(page), "summary", "mean");
  await fillField(dialog(page), "groupBy", "weather");
  await takeScreenshot(page, "csv-form");
  await pressButton(dialog(page), "Submit");
  await pressButton(dialog(page), "Done");
  await expectEnd(page, "completed");
  await page.getByRole("main").getByRole("img").last().scrollIntoViewIfNeeded();
  await takeScreenshot(page, "csv-result");
});
