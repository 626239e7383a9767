// What a run made is read, copied and saved: with the keyboard, and without the rows that
// the page doesn't have.
import { readFile } from "node:fs/promises";
import { test, expect } from "./support/fixtures.js";
import { expectAccessible } from "./support/axe.js";
import { dataset } from "./support/datasets.js";
import { askKitchenSink, copyWith, dialog, expectEnd, fillField, pressButton, startRun } from "./support/run-page.js";

test.use({ permissions: ["clipboard-read", "clipboard-write"] });

const artifact = (page, title) => page.locator(".r-artifact").filter({ has: page.locator(".title", { hasText: title }) });

test("a chart's values, its pictures, and the path of a value are had by keyboard", { tag: "@accessible" }, async ({ page }) => {
  await askKitchenSink(page, "confirm");
  await pressButton(dialog(page), "Yes");
  await expectEnd(page, "completed");

  const chart = artifact(page, "Histogram");
  await chart.locator(".plot:visible").focus();
  await page.keyboard.press("Home");
  await expect(chart.locator(".reading")).toHaveText("0 to 5: 3");
  await page.keyboard.press("ArrowRight");
  await expect(chart.locator(".reading")).toHaveText("5 to 10: 7");
  for (const [control, start] of [[chart.getByRole("button", { name: /^PNG/ }), "\x89PNG"], [chart.getByRole("link", { name: /^SVG/ }), "<svg"]]) {
    const download = page.waitForEvent("download");
    await control.press("Enter");
    expect((await readFile(await (await download).path(), "latin1")).slice(0, 4)).toBe(start);
  }

  const tree = artifact(page, "A value");
  await tree.locator("summary").first().focus();
  for (const key of ["ArrowDown", "ArrowDown", "ArrowDown"]) await page.keyboard.press(key);
  await expect(tree.locator(".path")).toHaveText("/kinds/1");
  const copy = tree.getByRole("button", { name: "Copy path" });
  await copyWith(copy, () => copy.press("Enter"));
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe("/kinds/1");
  await expectAccessible(page);
});

test("a table with more rows than a page has is sorted, filtered and turned over in place", { tag: "@accessible" }, async ({ page }) => {
  await startRun(page, "explore_csv");
  await fillField(dialog(page), "file", { path: dataset("zipcodes.csv") });
  await pressButton(dialog(page), "Submit");
  await fillField(dialog(page), "columns", ["latitude"]);
  await fillField(dialog(page), "groupBy", "city");
  await pressButton(dialog(page), "Submit");
  await pressButton(dialog(page), "Done");
  await expectEnd(page, "completed");
  const table = page.locator(".artifact").filter({ has: page.locator(".browse") }).last();
  const show = table.getByText("Show data as a table");
  if (await show.count()) await show.click();
  const cities = () => table.locator("tbody td:first-child").allTextContents();
  const before = page.url();

  await table.getByRole("columnheader").first().getByRole("link").press("Enter");
  await expect(table.getByRole("columnheader").first()).toHaveAttribute("aria-sort", "ascending");
  const first = await cities();
  await table.getByRole("link", { name: "Next" }).press("Enter");
  await expect(table.getByRole("link", { name: "Previous" })).toBeVisible();
  await expect(table.getByRole("link", { name: "Next" })).toBeFocused();
  expect(await cities()).not.toEqual(first);

  await table.getByRole("searchbox").fill("springf");
  await table.getByRole("searchbox").press("Enter");
  await expect(table).toContainText("that match, of");
  await expect(table.getByRole("searchbox")).toBeFocused();
  for (const city of await cities()) expect(city.toLowerCase()).toContain("springf");
  await expect(page).toHaveURL(before);
  await expectAccessible(page);
});
