// Starting a run from a photon's page.
import { test, expect } from "./support/fixtures.js";
import { dialog, expectEnd, expectError, expectSet, pressButton, result, fillField } from "./support/run-page.js";

test.describe("arguments", () => {
  // The form posts without script: a rejected form is a page with status 422.
  test.use({ tolerated: [/status of 422/] });

  test("are rejected beside their fields, and corrected", async ({ page }) => {
    await page.goto("/photons/book_dinner");
    const main = page.getByRole("main");
    const run = main.getByRole("button", { name: "Run", exact: true });
    await fillField(main, "time", "19:00");
    await run.click();
    await expectError(main, "date", /Enter a date$/);
    await expectSet(main, "time", "19:00");

    await fillField(main, "date", "2026-11-22");
    await run.click();
    await fillField(dialog(page), "partySize", "4");
    await pressButton(dialog(page), "Submit");
    await expectEnd(page, "completed");
    await expect(result(page)).toContainText("confirmed for 4 people on November 22nd at 7:00 PM");
  });
});

test("a link fills in a photon's form without starting it", async ({ page }) => {
  await page.goto("/photons/book_dinner?date=2026-11-22&time=19%3A00");
  await expectSet(page.getByRole("main"), "date", "2026-11-22");
  await expectSet(page.getByRole("main"), "time", "19:00");
  await page.goto("/runs");
  await expect(page.locator('main a[href^="/runs/"]')).toHaveCount(0);
});

test("every page links to a run", async ({ page }) => {
  await page.goto("/photons/wizard");
  await page.getByRole("button", { name: "Run", exact: true }).click();
  await expect(dialog(page)).toBeVisible();
  const run = new URL(page.url()).pathname;
  for (const path of ["/", "/photons/explore_csv", "/runs"]) {
    await page.goto(path);
    await page.locator(`a[href="${run}"]`).first().click();
    await expect(dialog(page)).toBeVisible();
  }
});
