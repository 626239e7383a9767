// Whose answer is too late keeps what they had entered: the page shows it, to be copied.
import { expectAccessible } from "./support/axe.js";
import { test, expect } from "./support/fixtures.js";
import { askKitchenSink, copyWith, dialog, expectResult, field, fillField, pressButton } from "./support/run-page.js";

test.use({ permissions: ["clipboard-read", "clipboard-write"], tolerated: [/status of 409|ERR_FAILED|ERR_INTERNET_DISCONNECTED/] });

const entered = (page) => page.getByRole("region", { name: "What you had entered" });

/** openAsk returns the id of the open question of a run's page. */
async function openAsk(page) {
  await expect(dialog(page)).toBeVisible();
  const { asks } = await (await page.request.get(page.url(), { headers: { Accept: "application/json" } })).json();
  return asks[0].id;
}

/** answerElsewhere answers as another page or person would. */
const answerElsewhere = (page, id, content) =>
  page.request.post("/mcp/request", { data: { jsonrpc: "2.0", id, result: { action: "accept", content } } });

const bob = { name: "Bob", email: "bob@example.org" };

/** fillForm enters a name and an email address. */
async function fillForm(page) {
  await fillField(dialog(page), "name", "Ada <Lovelace>");
  await fillField(dialog(page), "email", "ada at home");
}

/** expectEntered expects what fillForm has entered, and that it can be copied. */
async function expectEntered(page) {
  await expect(entered(page).locator("pre")).toHaveText(["Ada <Lovelace>", "ada at home"]);
  await page.waitForLoadState(); // until its script has run
  await copyWith(entered(page).getByRole("button", { name: "Copy Email" }));
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe("ada at home");
  await expectAccessible(page);
}

test("on the run's page", async ({ page }) => {
  await askKitchenSink(page, "form");
  const id = await openAsk(page);
  await fillForm(page);
  await answerElsewhere(page, id, bob);
  await expect(page.locator(".closed-note")).toContainText(/This question was answered (by \w+ )?over HTTP/);
  await expectEntered(page);
  await page.getByRole("button", { name: "Close", exact: true }).click();
  await expect(entered(page)).toHaveCount(0);
  expect(await page.evaluate(() => JSON.stringify({ ...sessionStorage }))).not.toContain("Lovelace");
});

test("on the run's page, where it was sent at the same moment", async ({ page, context }) => {
  await askKitchenSink(page, "form");
  const id = await openAsk(page);
  await fillForm(page);
  await fillField(dialog(page), "email", "ada@example.org");
  const other = await context.newPage();
  await other.goto(page.url());
  await fillField(dialog(other), "name", "Bob");
  await fillField(dialog(other), "email", "bob@example.org");
  const answered = Promise.withResolvers();
  await page.route("**/mcp/request?*", (route) => answered.promise.then(() => route.continue()));
  await pressButton(dialog(page), "Submit");
  await expect(dialog(page).locator(".sending")).toBeVisible();
  await pressButton(dialog(other), "Submit"); // in a browser, as the answer that is being sent
  await expect(dialog(page)).toHaveCount(0);
  answered.resolve();
  await expect(entered(page).locator("pre")).toHaveText(["Ada <Lovelace>", "ada@example.org"]);
  await expectResult(page, { action: "accept", answer: { name: "Bob" } });
  await expect(other.locator(".closed-note")).toHaveCount(0);
  expect(id).toBeTruthy();
});

test("on a page that was loaded again meanwhile", async ({ page }) => {
  await askKitchenSink(page, "form");
  const id = await openAsk(page);
  await fillForm(page);
  const run = page.url();
  await page.goto("about:blank");
  await answerElsewhere(page, id, bob);
  await page.goto(run);
  await expectEntered(page);
});

test("on a page that was loaded again after an answer could not be sent", async ({ page, context }) => {
  await askKitchenSink(page, "form");
  const id = await openAsk(page);
  await fillForm(page);
  await context.setOffline(true);
  await pressButton(dialog(page), "Submit");
  await expect(page.getByRole("alert")).toContainText("Your draft is kept.");
  await context.setOffline(false);
  const run = page.url();
  await page.goto("about:blank");
  await answerElsewhere(page, id, bob);
  await page.goto(run);
  await expectEntered(page);
});

test("on the question's own page, at once and after a late submission", async ({ page, context }) => {
  await askKitchenSink(page, "form");
  const id = await openAsk(page);
  const late = await context.newPage();
  await late.route("**/updates*", (route) => route.abort());
  await late.goto(`/asks/${id}`);
  await fillForm(late);
  const alone = await context.newPage();
  await alone.goto(`/asks/${id}`);
  await fillForm(alone);
  await answerElsewhere(page, id, bob);
  await expect(alone.getByRole("main")).toContainText(/This question was answered (by \w+ )?over HTTP/);
  await expectEntered(alone);
  await pressButton(dialog(late), "Submit");
  await expectEntered(late);
});

test("in the inbox, at once and after a late submission", async ({ page, context }) => {
  await askKitchenSink(page, "form");
  const id = await openAsk(page);
  const inboxes = [await context.newPage(), await context.newPage()];
  for (const inbox of inboxes) {
    await inbox.goto(`/asks?open=${id}`);
    await fillForm(inbox);
  }
  const answered = Promise.withResolvers();
  await inboxes[1].route("**/mcp/request?*", (route) => answered.promise.then(() => route.continue()));
  await pressButton(dialog(inboxes[1]), "Submit");
  await answerElsewhere(page, id, bob);
  await expect(inboxes[1].locator("#list")).toContainText("No questions are waiting for you.");
  answered.resolve();
  await expect(inboxes[0].locator(".closed-note")).toContainText("Please sign up.");
  for (const inbox of inboxes) await expectEntered(inbox);
  await inboxes[0].getByRole("link", { name: "Show what became of it" }).click();
  await expect(inboxes[0].getByRole("main")).toContainText(/This question was answered (by \w+ )?over HTTP/);
});

test("but no secret", async ({ page }) => {
  await askKitchenSink(page, "secret");
  const id = await openAsk(page);
  await field(dialog(page), "secret").pressSequentially("correct horse");
  await page.request.post(`/mcp/request?ask=${id}&action=accept`, { form: { secret: "battery staple" } });
  await expect(page.locator(".closed-note")).toBeVisible();
  await expect(entered(page)).toHaveCount(0);
});

test.describe("without script", () => {
  test.use({ javaScriptEnabled: false });

  test("on the page of the refusal", async ({ page }) => {
    await askKitchenSink(page, "form");
    while (!(await field(page, "email").count())) await page.reload();
    await fillField(page, "name", "Ada <Lovelace>");
    await fillField(page, "email", "ada at home");
    await page.request.post(`${page.url()}/cancel`);
    await page.getByRole("button", { name: "Submit", exact: true }).click();
    await expect(page.getByRole("main")).toContainText("This question was withdrawn");
    await expect(entered(page).locator("pre")).toHaveText(["Ada <Lovelace>", "ada at home"]);
  });
});
