// A run is the same in every tab.
import { test, expect, watch } from "./support/fixtures.js";
import { askKitchenSink, dialog, expectEnd, expectResult, expectSet, pressButton, fillField, startRun, stop } from "./support/run-page.js";

test("a reload shows the same open question", async ({ page }) => {
  await askKitchenSink(page, "text");
  await expect(dialog(page)).toBeVisible();
  await page.reload();
  await fillField(dialog(page), "text", "Ada");
  await pressButton(dialog(page), "Submit");
  await expectResult(page, { action: "accept", answer: "Ada" });
});

test("a second tab shows the same open question, and an answer there closes it here", async ({ page, context }) => {
  await askKitchenSink(page, "select");
  const second = await context.newPage();
  await second.goto(page.url());
  await fillField(dialog(page), "select", "dev");
  await fillField(dialog(second), "select", "prod");
  await pressButton(dialog(second), "Submit");
  await expect(dialog(page)).toBeHidden();
  await expectResult(page, { action: "accept", answer: "prod" });
  await expectResult(second, { action: "accept", answer: "prod" });
});

test("an answer by JSON-RPC closes the question on the page", async ({ page }) => {
  await askKitchenSink(page, "integer");
  await expect(dialog(page)).toBeVisible();
  const headers = { Accept: "application/json" };
  const { asks } = await (await page.request.get(page.url(), { headers })).json();
  const answer = { jsonrpc: "2.0", id: asks[0].id, result: { action: "accept", content: { integer: 4 } } };
  const recorded = await page.request.post("/mcp/request", { data: answer });
  expect(recorded.status()).toBe(202);
  await expect(dialog(page)).toBeHidden();
  await expectResult(page, { action: "accept", answer: 4 });
  expect((await page.request.post("/mcp/request", { data: answer })).status()).toBe(409);
});

test("a draft survives events that arrive meanwhile", async ({ page, context }) => {
  await askKitchenSink(page, "all");
  const name = dialog(page).filter({ has: page.locator('[name="name"]') });
  await name.locator('[name="name"]').pressSequentially("Ada L");

  const second = await context.newPage();
  await second.goto(page.url());
  const elsewhere = dialog(second).filter({ has: second.locator('[name="environment"]') });
  await pressButton(dialog(second).filter({ has: second.locator('[name="name"]') }), "Later");
  await fillField(elsewhere, "environment", "prod");
  await pressButton(elsewhere, "Submit");
  await expect(elsewhere).toBeHidden();

  await expectSet(name, "name", "Ada L");
  await expect(name.locator('[name="name"]')).toBeFocused();
  await pressButton(name, "Submit");
  await expectResult(page, { action: "accept", answer: { name: "Ada L", environment: "prod" } });
});

test("a finished run is complete after a reload", async ({ page }) => {
  await askKitchenSink(page, "integer");
  await fillField(dialog(page), "integer", 4);
  await pressButton(dialog(page), "Submit");
  await expectResult(page, { action: "accept", answer: 4 });
  await page.reload();
  await expectResult(page, { action: "accept", answer: 4 });
  await expect(dialog(page)).toBeHidden();
});

test("the inbox leads to the open question", async ({ page }) => {
  await askKitchenSink(page, "text");
  const run = new URL(page.url()).pathname;
  await page.goto("/asks");
  await page.getByRole("main").locator(`a[href^="${run}"]`).first().click();
  await expect(dialog(page)).toBeVisible();
});

test("Stop ends the run and withdraws the question", async ({ page }) => {
  await askKitchenSink(page, "text");
  await pressButton(dialog(page), "Later");
  await stop(page);
  await expectEnd(page, "stopped");
  await expect(page.getByRole("link", { name: /^Answer/ })).toHaveCount(0);
});

test("Stop in one tab closes the question in the other", async ({ page, context }) => {
  await askKitchenSink(page, "form");
  const second = await context.newPage();
  await second.goto(page.url());
  await pressButton(dialog(second), "Later");
  await stop(second);
  await expect(dialog(page)).toBeHidden();
  await expectEnd(page, "stopped");
});

test.describe("another browser", () => {
  test.use({ tolerated: [/status of 40[34]/] });

  test("doesn't see the run", async ({ page, browser, baseURL, tolerated }) => {
    await startRun(page, "kitchen_sink", { ask: "text" });
    const stranger = await browser.newContext({ baseURL });
    const wrong = watch(stranger, baseURL);
    const other = await stranger.newPage();
    const response = await other.goto(page.url());
    expect(response.ok()).toBe(false);
    await expect(dialog(other)).toHaveCount(0);
    await other.goto("/runs");
    await expect(other.getByRole("main")).not.toContainText(new URL(page.url()).pathname.split("/").pop());
    await stranger.close();
    expect(wrong.filter((what) => !tolerated.some((pattern) => pattern.test(what)))).toEqual([]);
  });
});
