// The main use: a person uploads a real file, answers questions about it, and gets
// charts, which the test compares with its own computation.
import { readFileSync } from "node:fs";
import { csvParse } from "d3-dsv";
import { test, expect } from "./support/fixtures.js";
import { dataset } from "./support/datasets.js";
import { files } from "./support/question-kinds.js";
import { dialog, expectEnd, expectError, expectResult, expectSet, pressButton, result, fillField, startRun } from "./support/run-page.js";

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

// groupsOf computes the value of each column in each group, in the order of the groups.
function groupsOf({ file, columns, summary, groupBy }) {
  const rows = csvParse(readFileSync(dataset(file), "utf8"));
  const names = groupBy ? [...new Set(rows.map((row) => row[groupBy]))].sort() : [undefined];
  const valueOf = (rows, column) => summaries[summary].of(rows.map((row) => Number(row[column])));
  const groups = names.map((name) => ({ name, values: columns.map((column) => valueOf(rows.filter((row) => row[groupBy] === name), column)) }));
  return { rows, groups, totals: columns.map((column) => valueOf(rows, column)) };
}

// expected computes the expected result.
function expected(job) {
  const { rows, groups, totals } = groupsOf(job);
  const views = job.columns.map((column, i) => {
    const view = { title: titleOf(job), column, value: expect.closeTo(totals[i], 4) };
    if (!job.groupBy) return view;
    const sorted = groups.toSorted((a, b) => a.values[i] - b.values[i]);
    const [least, most] = [sorted[0], sorted.findLast((g) => g.values[i] === sorted.at(-1).values[i])];
    return {
      ...view, groups: groups.length,
      largestGroup: expect.any(String), largestValue: expect.closeTo(most.values[i], 4),
      smallestGroup: expect.any(String), smallestValue: expect.closeTo(least.values[i], 4),
    };
  });
  return { file: job.file, rows: rows.length, columns: rows.columns, views };
}

const titleOf = ({ columns, summary, groupBy }) => `${summaries[summary].title} of ${columns.join(", ")}${groupBy ? ` by ${groupBy}` : ""}`;

// chart returns the chart of a title, which its description follows.
const chart = (page, title) => page.getByRole("img", { name: new RegExp(`^${title.replace(/[()]/g, "\\$&")} (Bar|Line) chart`) }).first();

async function chooseView(page, { columns, summary, groupBy }) {
  await fillField(dialog(page), "columns", columns);
  await fillField(dialog(page), "summary", summary);
  if (groupBy) await fillField(dialog(page), "groupBy", groupBy);
  await pressButton(dialog(page), "Submit");
}

for (const job of [
  { file: "seattle-weather.csv", columns: ["precipitation", "wind"], summary: "mean", groupBy: "weather" },
  { file: "stocks.csv", columns: ["price"], summary: "max", groupBy: "symbol" },
  { file: "gapminder-health-income.csv", columns: ["income", "population"], summary: "sum" },
  { file: "zipcodes.csv", columns: ["latitude"], summary: "mean", groupBy: "state" },
]) {
  test(`${job.file} becomes a chart`, async ({ page }) => {
    await startRun(page, "explore_csv");
    await uploadFile(page, job.file);
    await chooseView(page, job);
    await pressButton(dialog(page), "Done");

    await expectResult(page, expected(job));
    const { groups } = groupsOf(job);
    const note = groups.length > 50 ? ` (the 50 largest of ${groups.length} groups)` : "";
    await expect(chart(page, titleOf(job) + note)).toBeVisible();
    await expect(page.getByRole("table", { name: `First rows of ${job.file}` })).toBeVisible();
    if (!job.groupBy) return;
    // Every group is in the chart's data or, if the chart leaves some out, in a table.
    if (!note) await page.getByText("Show data as a table").click();
    const table = page.getByRole("table", { name: titleOf(job), exact: true });
    await expect(table).toBeVisible();
    for (const [i, group] of groups.entries()) {
      const cells = await table.locator("tbody tr").nth(i).locator("td, th").allTextContents();
      expect(cells[0]).toBe(group.name);
      group.values.forEach((value, n) => expect(Number(cells[n + 1].replaceAll(",", ""))).toBeCloseTo(value, 4));
    }
  });
}

test("another view needs no other upload, and starts from the last choice", async ({ page }) => {
  await startRun(page, "explore_csv");
  await uploadFile(page, "stocks.csv");
  await chooseView(page, { columns: ["price"], summary: "mean", groupBy: "symbol" });
  await expect(dialog(page)).toContainText("Mean of price by symbol: ");
  await pressButton(dialog(page), "Another view");
  await expectSet(dialog(page), "summary", "mean");
  await fillField(dialog(page), "groupBy", "date");
  await pressButton(dialog(page), "Submit");
  await pressButton(dialog(page), "Done");
  await expectEnd(page, "completed");
  // All 123 months are in the chart, in their order.
  const title = "Mean of price by date";
  await expect(chart(page, title)).toBeVisible();
  await page.getByText("Show data as a table").last().click();
  const cells = page.getByRole("table", { name: title, exact: true }).locator("tbody tr > :first-child");
  await expect(cells).toHaveCount(123);
  const dates = await cells.allTextContents();
  expect(dates).toEqual(dates.toSorted());
});

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
  test(`${name} is asked for again with the reason`, async ({ page }) => {
    await startRun(page, "explore_csv");
    await uploadFile(page, file);
    await expect(dialog(page)).toContainText(`${file.name}: ${text}`);
    await uploadFile(page, "stocks.csv");
    await expect(dialog(page).locator('[name="columns"]').first()).toBeVisible();
  });
}

test("dates that can be read in two ways are asked about", async ({ page }) => {
  await startRun(page, "explore_csv");
  await uploadFile(page, { name: "sales.csv", mimeType: "text/csv", buffer: Buffer.from("sold,price\n3/4/2026,$5\n5/6/2026,$7\n") });
  await expect(dialog(page)).toContainText("Which day is 3/4/2026?");
  await fillField(dialog(page), "dates", "day");
  await pressButton(dialog(page), "Submit");
  await chooseView(page, { columns: ["sold", "price"], summary: "max" });
  await pressButton(dialog(page), "Done");
  await expectEnd(page, "completed");
  await expect(result(page)).toContainText("2026-06-05");
});
