// The main job: a person hands in a real file, is asked about it, and gets a
// table and a chart. What they say is held against a second computation.
import { readFileSync } from "node:fs";
import { csvParse } from "d3-dsv";
import { test, expect } from "./support/fixtures.js";
import { dataset } from "./support/datasets.js";
import { files } from "./support/question-kinds.js";
import { dialog, expectEnd, expectError, expectResult, press, result, set, startRun } from "./support/run-page.js";

async function handIn(page, file) {
  await set(dialog(page), "file", typeof file === "string" ? { path: dataset(file) } : file);
  await press(dialog(page), "Submit");
}

const sum = (numbers) => numbers.reduce((a, b) => a + b, 0);

const summaries = {
  sum: { title: "Sum", of: sum },
  mean: { title: "Mean", of: (numbers) => sum(numbers) / numbers.length },
  max: { title: "Largest value", of: (numbers) => numbers.reduce((a, b) => Math.max(a, b)) },
};

// expected computes what the photon should return.
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
    await startRun(page, "csv");
    await handIn(page, job.file);
    await set(dialog(page), "columns", job.columns);
    await set(dialog(page), "summary", job.summary);
    if (job.groupBy) await set(dialog(page), "groupBy", job.groupBy);
    await press(dialog(page), "Submit");

    await expectResult(page, expected(job));
    const title = new RegExp(`^${summaries[job.summary].title} of ${job.columns.join(", ")}`);
    await expect(page.getByRole("table", { name: title })).toBeVisible();
    await expect(page.getByRole("img", { name: title })).toBeVisible();
    await expect(page.getByRole("table", { name: `First rows of ${job.file}` })).toBeVisible();
  });
}

test("a file of another kind is refused beside the field, and a CSV file mends it", async ({ page }) => {
  await startRun(page, "csv");
  await handIn(page, files.png);
  await expectError(dialog(page), "file", /dot\.png is not accepted/);
  await handIn(page, "stocks.csv");
  await expect(dialog(page).locator('[name="columns"]').first()).toBeVisible();
});

for (const [name, { file, says }] of Object.entries({
  "a picture that is called CSV": { file: { ...files.png, name: "dot.csv" }, says: "not a CSV file but a PNG image" },
  "an empty file": { file: files.empty, says: "the file is empty" },
})) {
  test(`${name} fails the run, which says why`, async ({ page }) => {
    await startRun(page, "csv");
    await handIn(page, file);
    await expectEnd(page, "failed");
    await expect(result(page)).toContainText(`${file.name}: `);
    await expect(result(page)).toContainText(says);
  });
}
