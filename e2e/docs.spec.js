// The documentation in the program.
import { test, expect } from "./support/fixtures.js";
import { expectAccessible } from "./support/axe.js";
import { askKitchenSink } from "./support/run-page.js";

test("the documentation is read and searched", async ({ page }) => {
  await page.goto("/");
  await page.getByRole("link", { name: "Docs", exact: true }).click();
  await expect(page.getByRole("main")).toContainText("A photon is a tool that stops to ask");
  await expectAccessible(page);
  await page.getByRole("searchbox", { name: "Search the documentation" }).fill("idempotency key");
  await page.keyboard.press("Enter");
  await page.getByRole("link", { name: /^Steps and durability/ }).click();
  await expect(page).toHaveURL(/\/docs\/photons#steps-and-durability$/);
  await expect(page.getByRole("heading", { name: "Steps and durability" })).toBeInViewport();
  await expectAccessible(page);
});

test("the colors are chosen, and the icon shows that questions wait", async ({ page }) => {
  await page.goto("/settings");
  await expectAccessible(page);
  await page.getByLabel("Dark").check();
  await page.getByRole("button", { name: "Save" }).click();
  await expect(page.locator("html")).toHaveAttribute("data-theme", "dark");
  await expect(page.locator("html")).toHaveCSS("color-scheme", "dark");
  await expectAccessible(page);
  await page.goto("/");
  const icon = page.locator("link[rel=icon]");
  await expect(icon).toHaveAttribute("href", /\/static\//);
  await askKitchenSink(page, "text");
  await expect(icon).toHaveAttribute("href", /^data:image\/svg/);
});
