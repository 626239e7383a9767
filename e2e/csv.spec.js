// The main use: a person uploads a real file, answers questions about it, and gets a
// table and a chart, which the test compares with its own computation.
import { readFileSync } from "node:fs";
import { csvParse } from "d3-dsv";
import { test, expect } from "./support/fixtures.js";
import { dataset } from "./support/datasets.js";
import { files } from "./support/question-kinds.js";
import { dialog, expectEnd, expectError, expectResult, pressButton, result, fillField, startRun } from "./support/run-page.js";

async function uploadFile(page, file) {
  await fillField(dialog(page), "file", typeof file === "string" ? { path: dataset(file) } : file);
  await pressButton(dialog(page), "Submit");
}

const sum = (numbers) => numbers.reduce((a, b) => a + b, 0);

const summaries = {
  sum: { title: "Sum", of: sum },
  mean: { title: "Mean", of: (numbers) => sum(numbers) / numbers.length },
  max: { title: "Largest value", of: (numbers) => numbers.reduce((a, b) => Math.max(a, b)) },
};

// expected computes the expected result.
function expected({ file, columns, summary, groupBy }) {
  const rows = csvParse(readFileSync(dataset(file), "utf8"));
  const groups = groupBy ? [...new Set(rows.map((row) => row[groupBy]))].sort() : [undefined];
  const values = groups.flatMap((group) =>
    columns.map((column) => {
      const numbers = rows.filter((row) => row[groupBy] === group).map((row) => Number(row[column]));
      const value = expect.closeTo(summaries[summary].of(numbers), 4);
      return group === undefined ? { column, value } : { group, column, value };
    }),
  );
  return { file, rows: rows.length, columns: rows.columns.length, summary, values };
}

for (const job of [
  { file: "seattle-weather.csv", columns: ["precipitation", "wind"], summary: "mean", groupBy: "weather" },
  { file: "stocks.csv", columns: ["price"], summary: "max", groupBy: "symbol" },
  { file: "gapminder-health-income.csv", columns: ["income", "population"], summary: "sum" },
  { file: "zipcodes.csv", columns: ["latitude"], summary: "mean", groupBy: "state" },
]) {
  test(`${job.file} becomes a table and a chart`, async ({ page }) => {
    await startRun(page, "explore_csv");
    await uploadFile(page, job.file);
    await fillField(dialog(page), "columns", job.columns);
    await fillField(dialog(page), "summary", job.summary);
    if (job.groupBy) await fillField(dialog(page), "groupBy", job.groupBy);
    await pressButton(dialog(page), "Submit");

    await expectResult(page, expected(job));
    const title = new RegExp(`^${summaries[job.summary].title} of ${job.columns.join(", ")}`);
    await expect(page.getByRole("table", { name: title })).toBeVisible();
    await expect(page.getByRole("img", { name: title })).toBeVisible();
    await expect(page.getByRole("table", { name: `First rows of ${job.file}` })).toBeVisible();
  });
}

test("a file of another type is rejected beside the field, and then a CSV file is accepted", async ({ page }) => {
  await startRun(page, "explore_csv");
  await uploadFile(page, files.png);
  await expectError(dialog(page), "file", /dot\.png is not accepted/);
  await uploadFile(page, "stocks.csv");
  await expect(dialog(page).locator('[name="columns"]').first()).toBeVisible();
});

for (const [name, { file, text }] of Object.entries({
  "an image named .csv": { file: { ...files.png, name: "dot.csv" }, text: "this is a PNG image, not a CSV file" },
  "an empty file": { file: files.empty, text: "the file is empty" },
})) {
  test(`${name} fails the run with a reason`, async ({ page }) => {
    await startRun(page, "explore_csv");
    await uploadFile(page, file);
    await expectEnd(page, "failed");
    await expect(result(page)).toContainText(`${file.name}: `);
    await expect(result(page)).toContainText(text);
  });
}
