// The main job: a person hands in a real file, is asked about it, and gets a
// table and a chart.
import { test, expect } from "./support/test.js";
import { dataset } from "./support/data.js";
import { files } from "./support/kinds.js";
import { dialog, press, startRun } from "./support/run.js";

async function handIn(page, file) {
  await startRun(page, "csv");
  await dialog(page).locator('input[type="file"]').setInputFiles(file);
  await press(dialog(page), "Submit");
}

for (const { file, column, rows } of [
  { file: "seattle-weather.csv", column: "precipitation", rows: "1,461" },
  { file: "stocks.csv", column: "price", rows: "560" },
  { file: "gapminder-health-income.csv", column: "income", rows: "187" },
  { file: "zipcodes.csv", column: "latitude", rows: "" },
]) {
  test(`${file} becomes a table and a chart`, async ({ page }) => {
    await handIn(page, dataset(file));
    const question = dialog(page);
    await expect(question.getByText(column, { exact: true })).toBeVisible();
    await question.getByLabel(column, { exact: true }).check();
    await press(question, "Submit");
    const main = page.getByRole("main");
    await expect(main.getByRole("table").first()).toContainText(column);
    await expect(main.getByRole("img").first()).toBeVisible();
    await expect(main).toContainText(file);
  });
}

for (const [name, file] of Object.entries({ "a picture": files.png, "an empty file": files.empty })) {
  test(`${name} is no CSV, and the run says so`, async ({ page }) => {
    await handIn(page, file);
    await expect(page.getByRole("main")).toContainText(/no CSV|not a CSV|empty/i);
  });
}
