// What has the focus, a run's tabs and its first row are in sight, in windows of several sizes.
import { test, expect } from "./support/fixtures.js";
import { askKitchenSink, dialog, expectEnd, pressButton } from "./support/run-page.js";
import { expectFocusInSight, expectFocusesInSight, expectInSight, windows } from "./support/sight.js";

const firstRow = (page) => page.locator("#timeline > .row").first().locator(".what");

for (const name of ["phone", "phone on its side", "at 200 %"]) {
  test(`a run's tabs and rows, ${name}`, async ({ page }, testInfo) => {
    await page.setViewportSize(windows[name]);
    await askKitchenSink(page, "confirm");
    await pressButton(dialog(page), "Yes");
    await expectEnd(page, "completed");
    await page.reload();
    await page.evaluate(() => scrollTo(0, 0));
    for (const tab of await page.getByRole("navigation", { name: "This run" }).getByRole("link").all()) await expectInSight(tab);
    await expectInSight(firstRow(page));

    // Backwards from the end, where what is above is under the head.
    await page.locator("#timeline :is(a[href], button, summary)").last().focus();
    expect(await expectFocusesInSight(page, page.locator("#timeline"), "Shift+Tab")).toBeGreaterThan(1);

    const download = page.waitForEvent("download");
    await page.getByRole("link", { name: "Export as HTML" }).click();
    const file = testInfo.outputPath("run.html");
    await (await download).saveAs(file);
    await page.goto(`file://${file}`);
    await expectInSight(firstRow(page));
  });

  test(`the fields and buttons of a question, ${name}`, async ({ page }) => {
    await page.setViewportSize(windows[name]);
    await askKitchenSink(page, "form");
    await expect(dialog(page)).toBeVisible();
    await expectFocusInSight(page);
    for (const key of ["Tab", "Shift+Tab"]) {
      await dialog(page).getByRole("heading").focus();
      if (key !== "Tab") await dialog(page).getByRole("button", { name: "Later" }).focus();
      expect(await expectFocusesInSight(page, dialog(page), key)).toBeGreaterThan(7);
    }
  });
}
