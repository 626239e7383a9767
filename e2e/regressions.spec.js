// Small things that people notice: what is late, what is partly there, what is
// in the wrong time or shown too long.
import { test, expect } from "./support/fixtures.js";
import { expectAccessible } from "./support/axe.js";
import { dataset } from "./support/datasets.js";
import { askKitchenSink, dialog, expectEnd, expectResult, expectSet, field, press, set, startRun, stop } from "./support/run-page.js";

const openAsks = async (page) => (await (await page.request.get(page.url(), { headers: { Accept: "application/json" } })).json()).asks;
const answer = (page, id, content) =>
  page.request.post("/mcp/request", { data: { jsonrpc: "2.0", id, result: { action: "accept", content } } });

test.describe("a question on a page of its own", () => {
  test.use({ tolerated: [/status of 409|ERR_FAILED/] });

  test("is told how it was answered elsewhere, at once, or when one is late", async ({ page, context }) => {
    await askKitchenSink(page, "integer");
    const [{ id }] = await openAsks(page);
    const late = await context.newPage();
    await late.route("**/updates*", (route) => route.abort());
    await late.goto(`/asks/${id}`);
    await set(dialog(late), "integer", "7");
    const alone = await context.newPage();
    await alone.goto(`/asks/${id}`);
    await answer(page, id, { integer: 4 });
    await expect(alone.getByRole("main")).toContainText("This question was answered over HTTP");
    await expect(alone.getByRole("button", { name: "Submit" })).toHaveCount(0);
    await expectAccessible(alone);

    await press(dialog(late), "Submit");
    await expect(late.getByRole("main")).toContainText("This question was answered over HTTP");
    await late.getByRole("link", { name: "View the run" }).click();
    await expectResult(late, { action: "accept", answer: 4 });
    await page.goto(`/asks/${id}`);
    await expect(page.getByRole("main")).toContainText("This question was answered over HTTP");
  });
});

test("a question that was put aside and answered elsewhere says so", async ({ page }) => {
  await askKitchenSink(page, "integer");
  const [{ id }] = await openAsks(page);
  await press(dialog(page), "Later");
  await answer(page, id, { integer: 4 });
  await expect(page.locator(".closed-note")).toContainText("This question was answered over HTTP");
});

test("a secret is offered to no password manager", async ({ page }) => {
  await askKitchenSink(page, "secret");
  const secret = field(dialog(page), "secret");
  await expect(secret).toHaveAttribute("type", "password");
  await expect(secret).toHaveAttribute("autocomplete", "new-password");
  await expect(secret).toHaveAttribute("data-1p-ignore", "true");
});

test.describe("a table that is shown in part", () => {
  test.use({ contextOptions: { permissions: ["clipboard-read", "clipboard-write"], reducedMotion: "reduce" } });

  test("is copied whole", async ({ page }) => {
    await startRun(page, "csv");
    await set(dialog(page), "file", { path: dataset("seattle-weather.csv") });
    await press(dialog(page), "Submit");
    await set(dialog(page), "columns", ["wind"]);
    await set(dialog(page), "groupBy", "date");
    await press(dialog(page), "Submit");
    await expectEnd(page, "completed");
    const part = page.locator(".artifact").filter({ has: page.locator(".left") }).filter({ has: page.getByRole("link", { name: /^Download/ }) }).last();
    await expect(part).toContainText("the first 200 of");
    const total = Number((await part.locator(".left").first().textContent()).match(/of ([\d,]+)/)[1].replace(",", ""));
    await part.getByRole("button", { name: "Copy as CSV" }).click();
    await expect(part.getByRole("button", { name: "Copied", exact: true })).toBeVisible();
    const lines = (await page.evaluate(() => navigator.clipboard.readText())).trim().split("\n");
    expect(lines.length - 1).toBe(total);
  });
});

test("a bar that is full leaves with the next thing", async ({ page }) => {
  await askKitchenSink(page, "text");
  await expect(dialog(page)).toBeVisible();
  await expect(page.locator("#progress")).toBeHidden();
});

test("an upload tells how far it is, and Stop ends it", async ({ page, context }) => {
  await startRun(page, "csv");
  const cdp = await context.newCDPSession(page);
  await cdp.send("Network.enable");
  await cdp.send("Network.emulateNetworkConditions", { offline: false, latency: 0, downloadThroughput: -1, uploadThroughput: 200_000 });
  await set(dialog(page), "file", { name: "large.csv", mimeType: "text/csv", buffer: Buffer.from(`a,b\n${"1,2\n".repeat(2_000_000)}`) });
  const cut = page.waitForEvent("requestfailed", (request) => request.url().includes("/mcp/request"));
  await press(dialog(page), "Submit");
  await expect(dialog(page).getByRole("progressbar", { name: "Sent" })).toBeVisible();
  await expect(dialog(page)).toContainText(/Sending … \d+ %/);
  await stop(page);
  await cut;
  await expectEnd(page, "stopped");
});

test("runs of one photon are told apart by their input", async ({ page }) => {
  for (const kind of ["text", "select"]) await askKitchenSink(page, kind);
  await page.goto("/runs");
  const main = page.getByRole("main");
  for (const kind of ["text", "select"]) await expect(main.getByRole("listitem").filter({ hasText: kind })).toHaveCount(1);
  await expect(page.locator("#recent")).toContainText("select");
});

test.describe("what does not fit any more", () => {
  test.use({ tolerated: [/status of 422/] });

  test("is shown in the form when it is run again", async ({ page }) => {
    await page.goto("/photons/book_dinner");
    await page.evaluate(() => {
      const form = document.querySelector("form.sheet");
      form.innerHTML = `<input name="beam:args" value='{"date":"some day","time":"19:00"}'>`;
      form.submit();
    });
    const main = page.getByRole("main");
    await expect(main.getByRole("alert")).toBeVisible();
    await expectSet(main, "time", "19:00");
  });
});

test.describe("in another time zone", () => {
  test.use({ timezoneId: "America/New_York" });

  test("a moment is one of that zone", async ({ page }) => {
    await askKitchenSink(page, "datetime");
    await set(dialog(page), "datetime", "2026-05-17T18:30");
    await press(dialog(page), "Submit");
    await expectResult(page, { answer: "2026-05-17T18:30:00-04:00" });
  });
});
