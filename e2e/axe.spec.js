// Every page and every kind of question, for people who use more than a mouse
// and eyes; light and dark.
import { test, expect } from "./support/test.js";
import { expectAccessible } from "./support/axe.js";
import { kinds } from "./support/kinds.js";
import { askKitchenSink, dialog, expectEnd, press } from "./support/run.js";

for (const path of ["/", "/photons/kitchen-sink", "/photons/book_dinner", "/photons/csv", "/runs", "/asks"]) {
  test(`${path} is accessible`, async ({ page }) => {
    await page.goto(path);
    await expectAccessible(page);
  });
}

for (const kind of [...Object.keys(kinds), "all"]) {
  test(`a run that asks ${kind} is accessible`, async ({ page }) => {
    await askKitchenSink(page, kind);
    await expect(dialog(page).first()).toBeVisible();
    await expectAccessible(page);
  });
}

test("refused fields, a parked question and lists with runs are accessible", async ({ page }) => {
  await askKitchenSink(page, "form");
  await press(dialog(page), "Submit");
  await expect(page.locator('[aria-invalid="true"]').first()).toBeVisible();
  await expectAccessible(page);

  await press(dialog(page), "Later");
  await expect(dialog(page)).toBeHidden();
  await expectAccessible(page);
  for (const path of ["/runs", "/asks"]) {
    await page.goto(path);
    await expectAccessible(page);
  }
});

test("a finished run is accessible", async ({ page }) => {
  await askKitchenSink(page, "confirm");
  await press(dialog(page), "Yes");
  await expectEnd(page, "completed");
  await expectAccessible(page);
});
