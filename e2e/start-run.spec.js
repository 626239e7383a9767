// How a run is started from a photon's page.
import { test, expect } from "./support/fixtures.js";
import { dialog, expectEnd, expectError, expectSet, press, result, set } from "./support/run-page.js";

test.describe("arguments", () => {
  // The form is a plain one: the page that it is refused with says so.
  test.use({ tolerated: [/status of 422/] });

  test("are refused beside their fields, and mended", async ({ page }) => {
    await page.goto("/photons/book_dinner");
    const main = page.getByRole("main");
    const run = main.getByRole("button", { name: "Run", exact: true });
    await set(main, "time", "19:00");
    await run.click();
    await expectError(main, "date", /required/);
    await expectSet(main, "time", "19:00");

    await set(main, "date", "2026-11-22");
    await run.click();
    await set(dialog(page), "partySize", "4");
    await press(dialog(page), "Submit");
    await expectEnd(page, "completed");
    await expect(result(page)).toContainText("confirmed for 4 people on November 22nd at 7:00 PM");
  });
});

test("a link fills a photon's form in, and starts nothing", async ({ page }) => {
  await page.goto("/photons/book_dinner?date=2026-11-22&time=19%3A00");
  await expectSet(page.getByRole("main"), "date", "2026-11-22");
  await expectSet(page.getByRole("main"), "time", "19:00");
  await page.goto("/runs");
  await expect(page.locator('main a[href^="/runs/"]')).toHaveCount(0);
});

test("a run is found again from every page", async ({ page }) => {
  await page.goto("/photons/wizard");
  await page.getByRole("button", { name: "Run", exact: true }).click();
  await expect(dialog(page)).toBeVisible();
  const run = new URL(page.url()).pathname;
  for (const path of ["/", "/photons/csv", "/runs"]) {
    await page.goto(path);
    await page.locator(`a[href="${run}"]`).first().click();
    await expect(dialog(page)).toBeVisible();
  }
});
