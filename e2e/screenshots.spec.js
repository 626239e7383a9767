// What Beam looks like: pictures of its states in e2e/screenshots/.
import { test, expect } from "./support/fixtures.js";
import { dataset } from "./support/datasets.js";
import { kinds } from "./support/question-kinds.js";
import { picture } from "./support/screenshots.js";
import { askKitchenSink, dialog, expectEnd, press, set, startRun, stop } from "./support/run-page.js";

for (const [name, path] of Object.entries({
  start: "/",
  photon: "/photons/kitchen-sink",
  "runs-empty": "/runs",
  "asks-empty": "/asks",
})) {
  test(name, async ({ page }) => {
    await page.goto(path);
    await picture(page, name);
  });
}

for (const kind of [...Object.keys(kinds), "all"]) {
  test(`ask ${kind}`, async ({ page }) => {
    await askKitchenSink(page, kind);
    await expect(dialog(page).first()).toBeVisible();
    await picture(page, `ask-${kind}`);
  });
}

test("a form refused, parked, stopped", async ({ page }) => {
  await askKitchenSink(page, "form");
  await press(dialog(page), "Submit");
  await expect(page.locator('[aria-invalid="true"]').first()).toBeVisible();
  await picture(page, "form-refused");
  await press(dialog(page), "Later");
  await picture(page, "form-parked");
  await page.goto("/asks");
  await picture(page, "asks");
  await page.goBack();
  await press(dialog(page), "Later");
  await stop(page);
  await expectEnd(page, "stopped");
  await picture(page, "stopped");
  await page.goto("/runs");
  await picture(page, "runs");
});

test("csv from the file to the chart", async ({ page }) => {
  await startRun(page, "csv");
  await picture(page, "csv-file");
  await set(dialog(page), "file", { path: dataset("seattle-weather.csv") });
  await press(dialog(page), "Submit");
  await set(dialog(page), "columns", ["precipitation", "wind"]);
  await set(dialog(page), "summary", "mean");
  await set(dialog(page), "groupBy", "weather");
  await picture(page, "csv-form");
  await press(dialog(page), "Submit");
  await expectEnd(page, "completed");
  await page.getByRole("main").getByRole("img").last().scrollIntoViewIfNeeded();
  await picture(page, "csv-result");
});
