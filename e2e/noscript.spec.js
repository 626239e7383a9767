// Without script the pages still do the whole main job.
import { test, expect } from "./support/fixtures.js";
import { dataset } from "./support/datasets.js";
import { result, set, startRun } from "./support/run-page.js";

// A refused form is a whole page then, with the status that says so.
test.use({ javaScriptEnabled: false, tolerated: [/status of 422/] });

test("a run is started, asked, answered and read without script", async ({ page }) => {
  await startRun(page, "kitchen-sink", { ask: "text" });
  await until(page, page.locator('[name="text"]'));

  await set(page, "text", "A");
  await page.getByRole("button", { name: "Submit", exact: true }).click();
  await expect(page.locator('[name="text"]')).toHaveAttribute("aria-invalid", "true");
  await expect(page.locator('[name="text"]')).toHaveValue("A");

  await set(page, "text", "Ada");
  await page.getByRole("button", { name: "Submit", exact: true }).click();
  await until(page, result(page));
  await expect(result(page)).toContainText("Ada");
});

test("a CSV file becomes a table and a chart without script", async ({ page }) => {
  await startRun(page, "csv");
  await until(page, page.locator('[name="file"]'));
  await set(page, "file", { path: dataset("seattle-weather.csv") });
  await page.getByRole("button", { name: "Submit", exact: true }).click();
  await until(page, page.locator('[name="columns"]').first());
  await set(page, "columns", ["wind"]);
  await set(page, "summary", "mean");
  await page.getByRole("button", { name: "Submit", exact: true }).click();
  await until(page, result(page));
  await expect(page.getByRole("table", { name: "Mean of wind" })).toBeVisible();
  await expect(page.getByRole("img", { name: "Mean of wind" })).toBeVisible();
});

for (const verb of ["Decline", "Cancel"]) {
  test(`${verb} works without script`, async ({ page }) => {
    await startRun(page, "kitchen-sink", { ask: "form" });
    await until(page, page.locator('[name="email"]'));
    await page.getByRole("button", { name: verb, exact: true }).click();
    await until(page, result(page));
    await expect(result(page)).toContainText(verb.toLowerCase());
  });
}

test("Stop works without script", async ({ page }) => {
  await startRun(page, "kitchen-sink", { ask: "text" });
  await page.getByRole("button", { name: "Stop", exact: true }).click();
  await until(page, page.getByText(/stopped/i).first());
});

// until reads the page again until something is there.
async function until(page, locator) {
  await expect(async () => {
    if (!(await locator.isVisible())) await page.reload();
    await expect(locator).toBeVisible({ timeout: 500 });
  }).toPass({ timeout: 10_000 });
}
