// What a person sends while the network or Beam fails: the page says that it was not sent,
// keeps the draft, and sends nothing by itself later.
import { expectAccessible } from "./support/axe.js";
import { start } from "./support/beam.js";
import { test as base, expect } from "./support/fixtures.js";
import { startModelServer } from "./support/model-server.js";
import { askKitchenSink, dialog, expectEnd, expectResult, expectSet, field, fillField, pressButton, result, startRun, stop } from "./support/run-page.js";

const test = base.extend({
  models: [
    async ({}, use) => {
      const models = await startModelServer();
      await use(models);
      await models.stop();
    },
    { scope: "worker" },
  ],
  beam: [
    async ({ models }, use) => {
      const beam = await start("--models", models.models);
      await use(beam);
      await beam.stop();
    },
    { scope: "worker" },
  ],
  tolerated: [/ERR_INTERNET_DISCONNECTED|ERR_CONNECTION_ABORTED|status of 503/],
});

const unsent = (page) => page.getByRole("alert");

/** countPosts counts the forms that a page sends. */
function countPosts(page) {
  const sent = [];
  page.on("request", (request) => request.method() === "POST" && sent.push(request.url()));
  return sent;
}

test("an answer that can't be sent is kept, and sent when the person does", async ({ page, context }) => {
  await askKitchenSink(page, "text");
  await page.clock.install();
  await fillField(dialog(page), "text", "Ada");
  const sent = countPosts(page);
  await context.setOffline(true);
  await pressButton(dialog(page), "Submit");
  await expect(unsent(page)).toHaveText("You’re offline: nothing was sent. Your draft is kept. Try again when you’re back online.");
  await expect(dialog(page).locator(".sending")).toBeHidden();
  await expectSet(dialog(page), "text", "Ada");
  await expectAccessible(page);

  await context.setOffline(false);
  await page.clock.runFor(120_000);
  expect(sent).toHaveLength(1);
  await page.reload();
  await expectSet(dialog(page), "text", "Ada");
  await pressButton(dialog(page), "Submit");
  await expectResult(page, { action: "accept", answer: "Ada" });
});

test("an approval is not sent again by itself", async ({ page, context, models }) => {
  const press = {
    "a destructive confirmation": async () => {
      await askKitchenSink(page, "evidence");
      return "Replace";
    },
    "a request to a model": async () => {
      await startRun(page, "summarize", { text: "Beam stops to ask." });
      return "Approve";
    },
  };
  await page.clock.install();
  for (const [what, ask] of Object.entries(press)) {
    await test.step(what, async () => {
      const button = await ask();
      const sent = countPosts(page);
      await context.setOffline(true);
      await pressButton(dialog(page), button);
      await expect(unsent(page)).toHaveText(/^You’re offline: nothing was sent\./);
      await context.setOffline(false);
      await page.clock.runFor(120_000);
      await expect(page.locator(".away")).toBeHidden(); // it is connected again
      expect(sent).toHaveLength(1);
      await expect(dialog(page)).toBeVisible();
      await pressButton(dialog(page), button);
      await expect(unsent(page)).toHaveCount(0);
    });
  }
  const call = await models.next();
  call.say("It asks.");
  call.finish();
  await expectEnd(page, "completed");
});

test("a request to a model that can't be previewed shows no old preview", async ({ page, context }) => {
  await startRun(page, "summarize", { text: "Beam stops to ask." });
  const limit = page.getByRole("spinbutton", { name: "Longest reply, in tokens" });
  const preview = dialog(page).locator(".preview");
  await limit.fill("77");
  await expect(preview.locator("pre.body")).toContainText("77");
  await context.setOffline(true);
  await limit.fill("78");
  await expect(preview).toHaveText("Beam didn’t respond, so what would be sent can’t be shown.");
  await context.setOffline(false);
  await limit.fill("79");
  await expect(preview.locator("pre.body")).toContainText("79");
});

test("a decision is sent once, with a double click, too", async ({ page }) => {
  await askKitchenSink(page, "text");
  const sent = countPosts(page);
  await dialog(page).getByRole("button", { name: "Decline" }).dblclick();
  await expectResult(page, { action: "decline" });
  expect(sent).toHaveLength(1);
});

test("an answer that nobody replies to, or that Beam refuses, is kept", async ({ page }) => {
  await askKitchenSink(page, "text");
  await page.clock.install();
  await fillField(dialog(page), "text", "Ada");
  await page.route("**/mcp/request?*", () => {});
  await pressButton(dialog(page), "Submit");
  await expect(dialog(page).locator(".sending")).toBeVisible();
  await page.clock.runFor(20_001);
  await expect(unsent(page)).toHaveText("Beam didn’t respond, so this may not have arrived. Your draft is kept. Try again.");
  await expect(dialog(page).locator(".sending")).toBeHidden();

  await page.unroute("**/mcp/request?*");
  await page.route("**/mcp/request?*", (route) => route.fulfill({ status: 503 }));
  await pressButton(dialog(page), "Submit");
  await expect(unsent(page)).toHaveText("Beam didn’t accept this (status 503). Your draft is kept. Try again.");

  await page.unroute("**/mcp/request?*");
  await pressButton(dialog(page), "Submit");
  await expectResult(page, { action: "accept", answer: "Ada" });
});

test("a file that can't be sent stays chosen", async ({ page, context }) => {
  await askKitchenSink(page, "file");
  await fillField(dialog(page), "file", { name: "notes.txt", mimeType: "text/plain", buffer: Buffer.from("Beam") });
  await context.setOffline(true);
  await pressButton(dialog(page), "Submit");
  await expect(unsent(page)).toHaveText(/^You’re offline: nothing was sent\./);
  await context.setOffline(false);
  await pressButton(dialog(page), "Submit");
  await expect(unsent(page)).toHaveCount(0);
  await expectEnd(page, "completed");
});

test("a stop that can't be sent says so", async ({ page, context }) => {
  await askKitchenSink(page, "text");
  await context.setOffline(true);
  await stop(page);
  await expect(unsent(page)).toHaveText("You’re offline: nothing was sent. Try again when you’re back online.");
  await expectAccessible(page);
  await context.setOffline(false);
  await stop(page);
  await expectEnd(page, "stopped");
  await expect(unsent(page)).toHaveCount(0);
  await expect(result(page)).toBeVisible();
});

test("someone else's answer closes the question that could not be sent", async ({ page, context }) => {
  await askKitchenSink(page, "integer");
  await fillField(dialog(page), "integer", "7");
  await context.setOffline(true);
  await field(dialog(page), "integer").press("Enter");
  await expect(unsent(page)).toBeVisible();
  const { asks } = await (await page.request.get(page.url(), { headers: { Accept: "application/json" } })).json();
  await page.request.post("/mcp/request", { data: { jsonrpc: "2.0", id: asks[0].id, result: { action: "accept", content: { integer: 4 } } } });
  await context.setOffline(false);
  await expect(page.locator(".closed-note")).toContainText(/This question was answered (by \w+ )?over HTTP/);
});
