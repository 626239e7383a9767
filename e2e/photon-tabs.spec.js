// The pages about a photon: how clients connect, how programs call it, links that fill in its form.
import { test, expect } from "./support/fixtures.js";
import { expectAccessible } from "./support/axe.js";
import { copyWith } from "./support/run-page.js";

test("what is typed goes with the tabs, and into a link", async ({ page, context }) => {
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  await page.goto("/photons/summarize");
  await page.getByLabel("Text", { exact: true }).fill("It's “quoted”");
  await expect(page.getByLabel("Arguments as JSON")).toHaveValue(/quoted/);
  await copyWith(page.getByRole("button", { name: "Copy link with these inputs" }));
  const link = await page.evaluate("navigator.clipboard.readText()");
  await page.getByRole("link", { name: "API", exact: true }).click();
  await expect(page.getByRole("main")).toContainText(String.raw`"text":"It'\''s “quoted”"`);
  await expectAccessible(page);
  await page.getByRole("link", { name: "Connect", exact: true }).click();
  await page.locator("summary", { hasText: "Claude Desktop" }).click();
  await expect(page.locator("details[open] pre")).toContainText('"mcpServers"');
  await expectAccessible(page);
  await page.goto(link);
  await expect(page.getByLabel("Text", { exact: true })).toHaveValue("It's “quoted”");
});

test.describe("without script", () => {
  test.use({ javaScriptEnabled: false });
  test("examples and tabs work", async ({ page }) => {
    await page.goto("/photons/summarize");
    await page.locator(".examples a").first().click();
    await expect(page.locator('[name="text"]')).toHaveValue(/^Beam runs tools/);
    await page.getByRole("link", { name: "API", exact: true }).click();
    await expect(page.getByRole("main")).toContainText("Beam runs tools");
  });
});
