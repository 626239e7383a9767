// History: searching runs, a run's messages, its export and its deletion.
import { readFileSync } from "node:fs";
import { test, expect } from "./support/fixtures.js";
import { expectAccessible } from "./support/axe.js";
import { askKitchenSink, copyWith, dialog, expectEnd, pressButton, startRun } from "./support/run-page.js";

/** completedRun runs the kitchen sink to its end and returns the run's path. */
async function completedRun(page) {
  await askKitchenSink(page, "confirm");
  await pressButton(dialog(page), "Yes");
  await expectEnd(page, "completed");
  return new URL(page.url()).pathname;
}

test("runs are searched and filtered by keyboard", async ({ page }) => {
  const run = await completedRun(page);
  await page.goto("/runs");
  await page.getByRole("searchbox", { name: "Search runs" }).fill("kitchen");
  await page.keyboard.press("Enter");
  await expect(page).toHaveURL(/q=kitchen/);
  await expect(page.getByRole("main").locator(`a[href="${run}"]`)).toBeVisible();
  await page.getByText("More filters").focus();
  await page.keyboard.press("Enter");
  await page.getByLabel("Photon", { exact: true }).fill("no such tool");
  await page.keyboard.press("Enter");
  await expect(page.getByRole("main")).toContainText("No runs match.");
  await expectAccessible(page);
  await page.getByRole("main").getByRole("link", { name: "Show all runs" }).first().click();
  await expect(page.getByRole("main").locator(`a[href="${run}"]`)).toBeVisible();
});

test("a run's messages are listed, filtered and copied", async ({ page, context }) => {
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  await completedRun(page);
  await page.getByRole("link", { name: "Messages" }).click();
  const rows = page.locator(".messages > li");
  await expect(rows.first()).toContainText("tools/call");
  await expectAccessible(page);
  await page.getByLabel("Method").selectOption("elicitation/create");
  await page.getByRole("button", { name: "Filter" }).click();
  await page.waitForURL(/method=elicitation/); // and until its script has run
  await expect(rows).toHaveCount(2);
  await expect(rows.nth(1)).toContainText("accept in the browser");
  await rows.nth(1).locator("summary").focus();
  await page.keyboard.press("Enter");
  await copyWith(rows.nth(1).getByRole("button", { name: "Copy" }));
  expect(JSON.parse(await page.evaluate("navigator.clipboard.readText()")).result.action).toBe("accept");
  await expectAccessible(page);
});

test("a run is replayed with its answers, and its input is edited", async ({ page }) => {
  const run = await completedRun(page);
  let starts = 0;
  const clickedTwice = page.waitForEvent("console", (message) => message.text() === "clicked twice");
  await page.route("**/replay", async (route) => {
    starts++;
    await clickedTwice;
    await route.continue().catch(() => {}); // another request has taken its place
  });
  await page.getByRole("button", { name: /^Replay to here/ }).last().evaluate((button) => {
    button.click();
    setTimeout(() => {
      button.click();
      console.log("clicked twice");
    }, 300);
  });
  await expect(page).not.toHaveURL(new RegExp(`${run}$`));
  await expectEnd(page, "completed");
  await expect(page.locator("#timeline")).toContainText("with the recorded answers of");
  await expect(page.locator("#timeline")).toContainText("as in an earlier run");
  expect(starts).toBe(1);
  await expectAccessible(page);
  await page.getByRole("link", { name: "Edit and run again" }).click();
  await expect(page.getByRole("combobox", { name: "Question" })).toHaveValue("confirm");
});

test("a run is forked, with other input", async ({ page }) => {
  const run = await completedRun(page);
  await page.getByRole("button", { name: /^Fork from here/ }).last().click();
  await expect(page).not.toHaveURL(new RegExp(`${run}$`));
  await expectEnd(page, "completed");
  await expect(page.locator("#timeline")).toContainText("as a fork of");
  await expect(page.locator("#timeline")).toContainText("as in an earlier run");
  const fork = new URL(page.url()).pathname;
  await page.getByRole("link", { name: /^run / }).first().click();
  await expect(page).toHaveURL(new RegExp(`${run}$`));
  await expect(page.locator(".forks a")).toHaveAttribute("href", fork);
  await expectAccessible(page);
  await page.getByRole("link", { name: /^with other input/ }).last().click();
  await expectAccessible(page);
  await page.getByRole("combobox", { name: "Question" }).selectOption("text");
  await page.getByRole("button", { name: "Run", exact: true }).click();
  await expect(page.locator("#timeline")).toContainText("differs");
});

test("a run is exported as one file, and deleted", async ({ page, browser }) => {
  const run = await completedRun(page);
  const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("link", { name: "Export as HTML" }).click()]);
  const alone = await browser.newPage();
  await alone.route("**", (route) => route.abort()); // it loads nothing
  await alone.setContent(readFileSync(await download.path(), "utf8"));
  await expect(alone.getByRole("heading", { level: 1 })).toHaveText("Kitchen sink");
  await expect(alone.locator(".r-result")).toBeVisible();
  await alone.close();
  await page.getByRole("link", { name: "Delete", exact: true }).click();
  await expectAccessible(page);
  await page.getByRole("button", { name: "Delete the run" }).click();
  await expect(page).toHaveURL(/\/runs$/);
  await expect(page.locator(`a[href="${run}"]`)).toHaveCount(0);
});

test.describe("without script", () => {
  test.use({ javaScriptEnabled: false });
  test("history works", async ({ page }) => {
    await startRun(page, "kitchen_sink", { ask: "confirm" });
    const run = page.url();
    const until = (locator) => expect(async () => {
      await page.goto(run);
      await expect(locator).toBeVisible({ timeout: 1000 });
    }).toPass();
    await until(page.getByRole("button", { name: "Yes", exact: true }));
    await page.getByRole("button", { name: "Yes", exact: true }).click();
    await until(page.locator(".r-result"));
    await page.getByRole("link", { name: "Messages" }).click();
    await page.getByLabel("Method").selectOption("tools/call");
    await page.getByRole("button", { name: "Filter" }).click();
    await expect(page.locator(".messages > li")).toHaveCount(2);
    await page.getByRole("link", { name: "Delete", exact: true }).click();
    await page.getByRole("button", { name: "Delete the run" }).click();
    await expect(page).toHaveURL(/\/runs$/);
  });
});
