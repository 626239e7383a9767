// Pages work without script.
import { test, expect } from "./support/fixtures.js";
import { dataset } from "./support/datasets.js";
import { result, fillField, startRun } from "./support/run-page.js";

// Without script, a rejected form is a whole page with status 422.
test.use({ javaScriptEnabled: false, tolerated: [/status of 422/] });

test("a run is started, asked, answered and read without script", async ({ page }) => {
  await startRun(page, "kitchen_sink", { ask: "text" });
  await until(page, page.locator('[name="text"]'));

  await fillField(page, "text", "A");
  await page.getByRole("button", { name: "Submit", exact: true }).click();
  await expect(page.locator('[name="text"]')).toHaveAttribute("aria-invalid", "true");
  await expect(page.locator('[name="text"]')).toHaveValue("A");

  await fillField(page, "text", "Ada");
  await page.getByRole("button", { name: "Submit", exact: true }).click();
  await until(page, result(page));
  await expect(result(page)).toContainText("Ada");
});

test("a CSV file becomes a table and a chart without script", async ({ page }) => {
  await startRun(page, "explore_csv");
  await until(page, page.locator('[name="file"]'));
  await fillField(page, "file", { path: dataset("seattle-weather.csv") });
  await page.getByRole("button", { name: "Submit", exact: true }).click();
  await until(page, page.locator('[name="columns"]').first());
  await fillField(page, "columns", ["precipitation", "wind"]);
  await fillField(page, "summary", "mean");
  await page.getByRole("button", { name: "Submit", exact: true }).click();
  await until(page, page.getByRole("button", { name: "Done", exact: true }));
  await page.getByRole("button", { name: "Done", exact: true }).click();
  await until(page, result(page));
  await expect(page.getByRole("table", { name: "First rows of seattle-weather.csv" })).toBeVisible();
  await expect(page.getByRole("img", { name: "Mean of precipitation, wind" }).first()).toBeVisible();
});

for (const verb of ["Decline", "Cancel"]) {
  test(`${verb} works without script`, async ({ page }) => {
    await startRun(page, "kitchen_sink", { ask: "form" });
    await until(page, page.locator('[name="email"]'));
    await page.getByRole("button", { name: verb, exact: true }).click();
    await until(page, result(page));
    await expect(result(page)).toContainText(verb.toLowerCase());
  });
}

test("Stop works without script", async ({ page }) => {
  await startRun(page, "kitchen_sink", { ask: "text" });
  await page.getByRole("button", { name: "Stop", exact: true }).click();
  await until(page, page.getByText(/stopped/i).first());
});

// until reloads the page until a locator is visible.
async function until(page, locator) {
  await expect(async () => {
    if (!(await locator.isVisible())) await page.reload();
    await expect(locator).toBeVisible({ timeout: 500 });
  }).toPass();
}
