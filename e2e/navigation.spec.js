// Navigation: the list of runs, the search, the inbox count, the shortcuts.
import { test, expect } from "./support/fixtures.js";
import { askKitchenSink, dialog, expectEnd, field, pressButton, stop } from "./support/run-page.js";

test("runs are filtered by state, and the list stays up to date", async ({ page, context }) => {
  await askKitchenSink(page, "confirm");
  const run = new URL(page.url()).pathname;
  const list = await context.newPage();
  await list.goto("/runs");
  await list.getByRole("link", { name: "Waiting", exact: true }).click();
  await expect(list).toHaveURL(/\?state=waiting$/);
  await expect(list.getByRole("main").locator(`a[href="${run}"]`)).toBeVisible();
  await pressButton(dialog(page), "Yes");
  await expectEnd(page, "completed");
  await expect(list.getByRole("main").locator(`a[href="${run}"]`)).toHaveCount(0);
  await list.getByRole("link", { name: "Completed", exact: true }).click();
  await expect(list.getByRole("main").locator(`a[href="${run}"]`)).toBeVisible();
  await list.goto("/runs?state=interrupted");
  await expect(list.getByRole("main")).toContainText("No runs match.");
});

test("every page's title counts the open questions", async ({ page, context }) => {
  const home = await context.newPage();
  await home.goto("/");
  await expect(home).toHaveTitle(/^(?!\()/);
  await askKitchenSink(page, "all");
  await expect(home).toHaveTitle(/^\(2\) /);
  await expect(page).toHaveTitle(/^\(2\) Kitchen sink/);
  await stop(page);
  await expectEnd(page, "stopped");
  await expect(home).toHaveTitle(/^(?!\()/);
});

test("photons are filtered while typing", async ({ page }) => {
  await page.goto("/");
  const cards = page.locator(".cards > li");
  const all = await cards.count();
  await expect(page.locator(".group > h2")).toHaveText(["Examples", "For testing"]);
  await expect(page.locator(".group").first().getByRole("link")).toHaveText(["Explore a CSV file", "Summarize a text", /folder/]);
  await page.keyboard.press("/");
  await page.keyboard.type("kitchen s");
  await expect(cards.filter({ visible: true })).toHaveCount(1);
  await expect(page.locator(".group > h2").filter({ visible: true })).toHaveText(["For testing"]);
  await expect(page).toHaveURL(/\?q=kitchen%20s$/);
  await page.keyboard.type("zzz");
  await expect(page.getByRole("main")).toContainText("No photon’s name or description matches");
  await page.getByRole("searchbox").fill("");
  await expect(cards.filter({ visible: true })).toHaveCount(all);
});

test("shortcuts work as documented, and not while typing", async ({ page }) => {
  await page.clock.setFixedTime(new Date()); // however long it takes to press the second of two keys
  await page.goto("/");
  await page.keyboard.press("?");
  await expect(page.getByRole("dialog", { name: "Keyboard shortcuts" })).toBeVisible();
  await page.keyboard.press("Escape");
  await expect(page.getByRole("dialog")).toHaveCount(0);
  for (const [key, url] of [["r", /\/runs$/], ["i", /\/asks$/], ["h", /\/$/]]) {
    await page.keyboard.press("g");
    await page.keyboard.press(key);
    await page.waitForURL(url); // and until its script has run
  }
  await page.keyboard.press("j");
  await page.keyboard.press("j");
  await expect(page.locator(".cards > li").nth(1).getByRole("link")).toBeFocused();
  await page.keyboard.press("k");
  await expect(page.locator(".cards > li").nth(0).getByRole("link")).toBeFocused();

  await askKitchenSink(page, "text");
  await expect(field(dialog(page), "text")).toBeFocused();
  await page.keyboard.type("s?/gh");
  await expect(field(dialog(page), "text")).toHaveValue("s?/gh");
  await page.keyboard.press("Escape");
  await expect(page.getByRole("link", { name: /^Answer/ })).toBeFocused();
  await page.keyboard.press("s");
  await expect(page.getByRole("dialog", { name: "Stop this run?" })).toBeVisible();
  await page.keyboard.press("Enter");
  await expect(page.getByRole("dialog")).toHaveCount(0);
  await page.keyboard.press("s");
  await page.getByRole("button", { name: "Stop the run" }).click();
  await expectEnd(page, "stopped");
});

test("single-key shortcuts can be turned off", async ({ page }) => {
  await page.goto("/");
  await page.getByRole("button", { name: "Keyboard shortcuts" }).click();
  await page.getByRole("checkbox", { name: /shortcuts/ }).uncheck();
  await page.getByRole("button", { name: "Close" }).click();
  await page.reload();
  await page.keyboard.press("?");
  await expect(page.getByRole("dialog")).toHaveCount(0);
});
