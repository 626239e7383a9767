// What has the focus is in sight: all questions, in all windows.
import { test, expect } from "../support/fixtures.js";
import { kinds } from "../support/question-kinds.js";
import { askKitchenSink, dialog, expectEnd, pressButton } from "../support/run-page.js";
import { expectFocusInSight, expectFocusesInSight, expectInSight, windows } from "../support/sight.js";

const firstRow = (page) => page.locator("#timeline > .row").first().locator(".what");

async function expectDialogInSight(page) {
  await expect(dialog(page).first()).toBeVisible();
  await expectFocusInSight(page);
  for (const question of await dialog(page).all()) {
    for (const [from, key] of [["first", "Tab"], ["last", "Shift+Tab"]]) {
      await question.locator("a[href], input:visible, select, textarea, button:visible")[from]().focus();
      expect(await expectFocusesInSight(page, question, key)).toBeGreaterThan(2);
    }
  }
}

for (const [name, size] of Object.entries(windows)) {
  for (const kind of [...Object.keys(kinds), "all"]) {
    test(`ask ${kind}, ${name}`, async ({ page }) => {
      await page.setViewportSize(size);
      await askKitchenSink(page, kind);
      await expectDialogInSight(page);
    });
  }

  test(`a question on a page of its own, a run, its messages, and its export, ${name}`, async ({ page }, testInfo) => {
    await page.setViewportSize(size);
    await askKitchenSink(page, "form");
    await expect(dialog(page)).toBeVisible();
    const run = page.url();
    await page.goto("/asks");
    await page.getByRole("link", { name: /^Answer/ }).first().click();
    await expect(dialog(page).first()).toBeVisible();
    await expectInSight(dialog(page).getByRole("heading"));
    await dialog(page).getByRole("heading").focus();
    await page.keyboard.press("Tab");
    expect(await expectFocusesInSight(page, dialog(page), "Tab")).toBeGreaterThan(7);

    await page.goto(run);
    await pressButton(dialog(page), "Decline");
    await expectEnd(page, "completed");
    for (const path of ["", "/messages"]) {
      await page.goto(run + path);
      await page.evaluate(() => scrollTo(0, 0));
      for (const tab of await page.getByRole("navigation", { name: "This run" }).getByRole("link").all()) await expectInSight(tab);
      const main = page.locator(path ? ".messages" : "#timeline");
      await main.locator(":is(a[href], button, summary):visible").last().focus();
      expect(await expectFocusesInSight(page, main, "Shift+Tab")).toBeGreaterThan(2);
    }
    await page.goto(run);
    const download = page.waitForEvent("download");
    await page.getByRole("link", { name: "Export as HTML" }).click();
    const file = testInfo.outputPath("run.html");
    await (await download).saveAs(file);
    await page.goto(`file://${file}`);
    await expectInSight(firstRow(page));
  });
}
