// Regressions: late answers, truncated tables, time zones, stale progress.
import { test, expect } from "./support/fixtures.js";
import { expectAccessible } from "./support/axe.js";
import { dataset } from "./support/datasets.js";
import { askKitchenSink, copyWith, dialog, expectEnd, expectResult, expectSet, field, pressButton, fillField, startRun, stop } from "./support/run-page.js";

/** openAsks returns the open questions of a run, once it has some. */
async function openAsks(page) {
  await expect(dialog(page)).toBeVisible();
  return (await (await page.request.get(page.url(), { headers: { Accept: "application/json" } })).json()).asks;
}
const answer = (page, id, content) =>
  page.request.post("/mcp/request", { data: { jsonrpc: "2.0", id, result: { action: "accept", content } } });

test.describe("a question on a page of its own", () => {
  test.use({ tolerated: [/status of 409|ERR_FAILED/] });

  test("shows an answer given elsewhere, at once or after a late submission", { tag: "@accessible" }, async ({ page, context }) => {
    await askKitchenSink(page, "integer");
    const [{ id }] = await openAsks(page);
    const late = await context.newPage();
    await late.route("**/updates*", (route) => route.abort());
    await late.goto(`/asks/${id}`);
    await fillField(dialog(late), "integer", "7");
    const alone = await context.newPage();
    await alone.goto(`/asks/${id}`);
    await answer(page, id, { integer: 4 });
    await expect(alone.getByRole("main")).toContainText(/This question was answered (by \w+ )?over HTTP/);
    await expect(alone.getByRole("button", { name: "Submit" })).toHaveCount(0);
    await expectAccessible(alone);

    await pressButton(dialog(late), "Submit");
    await expect(late.getByRole("main")).toContainText(/This question was answered (by \w+ )?over HTTP/);
    await late.getByRole("link", { name: "View the run" }).click();
    await expectResult(late, { action: "accept", answer: 4 });
    await page.goto(`/asks/${id}`);
    await expect(page.getByRole("main")).toContainText(/This question was answered (by \w+ )?over HTTP/);
  });
});

test("a postponed question that was answered elsewhere shows a note", async ({ page }) => {
  await askKitchenSink(page, "integer");
  const [{ id }] = await openAsks(page);
  await pressButton(dialog(page), "Later");
  await answer(page, id, { integer: 4 });
  await expect(page.locator(".closed-note")).toContainText(/This question was answered (by \w+ )?over HTTP/);
});

test("password managers ignore a secret", async ({ page }) => {
  await askKitchenSink(page, "secret");
  const secret = field(dialog(page), "secret");
  await expect(secret).toHaveAttribute("type", "password");
  await expect(secret).toHaveAttribute("autocomplete", "new-password");
  await expect(secret).toHaveAttribute("data-1p-ignore", "true");
});

test.describe("a truncated table", () => {
  test.use({ contextOptions: { permissions: ["clipboard-read", "clipboard-write"], reducedMotion: "reduce" } });

  test("is copied completely", async ({ page }) => {
    await startRun(page, "explore_csv");
    await fillField(dialog(page), "file", { path: dataset("zipcodes.csv") });
    await pressButton(dialog(page), "Submit");
    await fillField(dialog(page), "columns", ["latitude"]);
    await fillField(dialog(page), "groupBy", "city");
    await pressButton(dialog(page), "Submit");
    await pressButton(dialog(page), "Done");
    await expectEnd(page, "completed");
    const part = page.locator(".artifact").filter({ has: page.locator(".left") }).filter({ has: page.getByRole("link", { name: /^Download/ }) }).last();
    await expect(part).toContainText("1–200 of");
    const total = Number((await part.locator(".left").first().textContent()).match(/of ([\d,]+)/)[1].replace(",", ""));
    await copyWith(part.getByRole("button", { name: "Copy as CSV" }));
    const lines = (await page.evaluate(() => navigator.clipboard.readText())).trim().split("\n");
    expect(lines.length - 1).toBe(total);
  });
});

test("a complete progress bar disappears with the next event", async ({ page }) => {
  await askKitchenSink(page, "text");
  await expect(dialog(page)).toBeVisible();
  await expect(page.locator("#progress")).toBeHidden();
});

test("an upload shows its progress, and Stop ends it", async ({ page, context }) => {
  await startRun(page, "explore_csv");
  const cdp = await context.newCDPSession(page);
  await cdp.send("Network.enable");
  await cdp.send("Network.emulateNetworkConditions", { offline: false, latency: 0, downloadThroughput: -1, uploadThroughput: 200_000 });
  await fillField(dialog(page), "file", { name: "large.csv", mimeType: "text/csv", buffer: Buffer.from(`a,b\n${"1,2\n".repeat(2_000_000)}`) });
  const aborted = page.waitForEvent("requestfailed", (request) => request.url().includes("/mcp/request"));
  await pressButton(dialog(page), "Submit");
  await expect(dialog(page).getByRole("progressbar", { name: "Sent" })).toBeVisible();
  await expect(dialog(page)).toContainText(/Sending … \d+ %/);
  await stop(page);
  await aborted;
  await expectEnd(page, "stopped");
});

test("lists distinguish runs of one photon by their input", async ({ page }) => {
  for (const kind of ["text", "select"]) await askKitchenSink(page, kind);
  await page.goto("/runs");
  const main = page.getByRole("main");
  for (const kind of ["text", "select"]) await expect(main.getByRole("listitem").filter({ hasText: kind })).toHaveCount(1);
  await expect(page.locator("#recent")).toContainText("select");
});

test.describe("invalid arguments of an earlier run", () => {
  test.use({ tolerated: [/status of 422/] });

  test("are shown in the form when the run is repeated", async ({ page }) => {
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

  test("a time is in that zone", async ({ page }) => {
    await askKitchenSink(page, "datetime");
    await fillField(dialog(page), "datetime", "2026-05-17T18:30");
    await pressButton(dialog(page), "Submit");
    await expectResult(page, { answer: "2026-05-17T18:30:00-04:00" });
  });
});
