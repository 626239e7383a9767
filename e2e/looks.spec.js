// What Beam looks like: pictures of its states in e2e/screenshots/.
import { test, expect } from "./support/test.js";
import { dataset } from "./support/data.js";
import { kinds } from "./support/kinds.js";
import { picture } from "./support/looks.js";
import { askKitchenSink, dialog, expectEnd, press, startRun, stop } from "./support/run.js";

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
  await dialog(page).locator('input[type="file"]').setInputFiles(dataset("seattle-weather.csv"));
  await press(dialog(page), "Submit");
  await expect(dialog(page).getByLabel("precipitation", { exact: true })).toBeVisible();
  await picture(page, "csv-form");
  await dialog(page).getByLabel("precipitation", { exact: true }).check();
  await press(dialog(page), "Submit");
  await expect(page.getByRole("main").getByRole("img").first()).toBeVisible();
  await picture(page, "csv-result");
});
