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

for (const [verb, action] of [["Decline", "decline"], ["Dismiss", "cancel"]]) {
  test(`${verb} works without script`, async ({ page }) => {
    await startRun(page, "kitchen_sink", { ask: "form" });
    await until(page, page.locator('[name="email"]'));
    await page.getByRole("button", { name: verb, exact: true }).click();
    await until(page, result(page));
    await expect(result(page)).toContainText(action);
  });
}

test("Stop works without script", async ({ page }) => {
  await startRun(page, "kitchen_sink", { ask: "text" });
  await page.getByRole("button", { name: "Stop", exact: true }).click();
  await until(page, page.getByText(/stopped/i).first());
});

test("the inbox, the history, another run with other input, and the settings work without script", async ({ page }) => {
  const main = page.getByRole("main");
  const press = (name) => main.getByRole("button", { name, exact: true }).click();
  await startRun(page, "kitchen_sink", { ask: "text" });
  const run = page.url();
  await until(page, page.locator('[name="text"]'));
  await page.goto("/asks");
  await main.getByRole("link", { name: /^Answer/ }).click();
  await fillField(main, "text", "A");
  await press("Submit");
  await expect(main.locator('[name="text"]')).toHaveAttribute("aria-invalid", "true");
  await fillField(main, "text", "Ada");
  await press("Submit");
  await page.goto(run);
  await until(page, result(page));
  await expect(result(page)).toContainText("Ada");

  await page.goto("/runs");
  await main.getByRole("searchbox", { name: "Search runs" }).fill("kitchen");
  await page.getByText("More filters").click();
  await main.getByLabel("Photon", { exact: true }).fill("kitchen_sink");
  await press("Search");
  await expect(page).toHaveURL(/q=kitchen/);
  await main.locator(`a[href="${new URL(run).pathname}"]`).click();
  await page.getByRole("link", { name: "Edit and run again" }).click();
  await fillField(main, "ask", "confirm");
  await press("Run");
  await until(page, page.getByRole("button", { name: "Yes", exact: true }));
  expect(page.url()).not.toBe(run);

  await page.goto("/settings");
  await page.getByLabel("Dark").check();
  await press("Save");
  await expect(page.locator("html")).toHaveAttribute("data-theme", "dark");
  await page.goto("/");
  await expect(page.locator("html")).toHaveCSS("color-scheme", "dark");
});

// until reloads the page until a locator is visible.
async function until(page, locator) {
  await expect(async () => {
    if (!(await locator.isVisible())) await page.reload();
    await expect(locator).toBeVisible({ timeout: 500 });
  }).toPass();
}
