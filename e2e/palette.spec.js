// The palette, by keyboard.
import { test, expect } from "./support/fixtures.js";
import { expectAccessible } from "./support/axe.js";

test("Ctrl K finds and opens a photon by keyboard", async ({ page }) => {
  await page.goto("/runs");
  await expect(page.locator("#palette")).toBeAttached();
  await page.keyboard.press("Control+k");
  const box = page.getByRole("combobox", { name: "Pages, photons, questions and runs" });
  await expect(box).toBeFocused();
  await expect(page.getByRole("option").first()).toBeVisible();
  await expectAccessible(page);
  await page.keyboard.press("ArrowDown");
  await expect(page.getByRole("option", { selected: true })).toContainText("Runs");
  await page.keyboard.type("csv");
  await expect(page.getByRole("option")).toHaveCount(1);
  await expect(box).toHaveAttribute("aria-activedescendant", "palette-0");
  await page.keyboard.press("Enter");
  await page.waitForURL(/\/photons\/explore_csv$/); // and until its script has run
  await page.keyboard.press("Control+k");
  await expect(box).toBeFocused();
  await page.keyboard.press("Escape");
  await expect(box).toBeHidden();
});

test("Enter opens the hit of what was typed last", async ({ page }) => {
  await page.goto("/");
  await page.keyboard.press("Control+k");
  await page.keyboard.type("countdown");
  await page.keyboard.press("Enter"); // at once
  await expect(page).toHaveURL(/\/photons\/countdown$/);
});

test.describe("without script", () => {
  test.use({ javaScriptEnabled: false });
  test("the search has a page", async ({ page }) => {
    await page.goto("/find");
    await page.locator("#find-q").fill("csv");
    await page.getByRole("button", { name: "Find", exact: true }).click();
    await page.getByRole("main").getByRole("link", { name: /CSV/ }).click();
    await expect(page).toHaveURL(/\/photons\/explore_csv$/);
  });
});
