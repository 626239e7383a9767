// A question as a person meets it: where the focus goes, what is kept of what
// was typed, and what is said when somebody else was faster.
import { test, expect } from "./support/fixtures.js";
import { askKitchenSink, dialog, expectResult, expectSet, field, press, reopen, set, startRun } from "./support/run-page.js";

test("the focus goes to the first field, and on when it is answered", async ({ page }) => {
  await askKitchenSink(page, "all");
  await expect(field(dialog(page), "name")).toBeFocused();
  await page.keyboard.type("Ada");
  await page.keyboard.press("Control+Enter");
  await expect(field(dialog(page), "environment")).toBeFocused();
  await page.keyboard.press("Space");
  await page.keyboard.press("Control+Enter");
  await expectResult(page, { action: "accept", answer: { name: "Ada", environment: "dev" } });
});

test("a question that comes while one types elsewhere leaves the focus there", async ({ page }) => {
  await startRun(page, "wizard");
  await set(dialog(page), "name", "Ada");
  await page.getByRole("searchbox", { name: "Find a photon" }).focus();
  await dialog(page).locator("form").first().evaluate((form) => form.requestSubmit());
  await expect(field(dialog(page), "email")).toBeVisible();
  await expect(page.getByRole("searchbox", { name: "Find a photon" })).toBeFocused();
});

test("parked, the focus goes to where the question can be reopened", async ({ page }) => {
  await askKitchenSink(page, "text");
  await expect(field(dialog(page), "text")).toBeFocused();
  await page.keyboard.press("Escape");
  await expect(page.getByRole("link", { name: /^Answer/ })).toBeFocused();
  await page.keyboard.press("Enter");
  await expect(field(dialog(page), "text")).toBeFocused();
});

test("a confirmation is not given by Ctrl+Enter", async ({ page }) => {
  await askKitchenSink(page, "confirm");
  await expect(dialog(page).getByRole("heading")).toBeFocused();
  await page.keyboard.press("Control+Enter");
  await expect(dialog(page)).toBeVisible();
  await press(dialog(page), "Yes");
  await expectResult(page, { action: "accept", answer: true });
});

test("a draft outlives parking, field errors and a reload, and goes with its question", async ({ page }) => {
  await askKitchenSink(page, "form");
  const draft = { name: "Ada", email: "nobody", topics: ["logging"], newsletter: false };
  for (const [name, value] of Object.entries(draft)) await set(dialog(page), name, value);
  await press(dialog(page), "Submit");
  await expect(field(dialog(page), "email")).toHaveAttribute("aria-invalid", "true");
  await press(dialog(page), "Later");
  await page.reload();
  for (const [name, value] of Object.entries(draft)) await expectSet(dialog(page), name, value);
  await set(dialog(page), "email", "ada@example.org");
  await press(dialog(page), "Submit");
  await expectResult(page, { action: "accept" });
  expect(await page.evaluate(() => Object.keys(sessionStorage))).toEqual([]);
});

test("a secret is kept nowhere", async ({ page }) => {
  await askKitchenSink(page, "secret");
  await field(dialog(page), "secret").pressSequentially("correct horse");
  expect(await page.evaluate(() => JSON.stringify([{ ...sessionStorage }, { ...localStorage }]))).not.toContain("horse");
  await page.reload();
  await expectSet(dialog(page), "secret", "");
});

test("a question answered elsewhere closes with a sentence that can be dismissed", async ({ page }) => {
  await askKitchenSink(page, "integer");
  await field(dialog(page), "integer").pressSequentially("1");
  const { asks } = await (await page.request.get(page.url(), { headers: { Accept: "application/json" } })).json();
  await page.request.post("/mcp/request", {
    data: { jsonrpc: "2.0", id: asks[0].id, result: { action: "accept", content: { integer: 4 } } },
  });
  const note = page.locator(".closed-note");
  await expect(note).toContainText("This question was answered over HTTP");
  await expect(note).toBeFocused();
  await expect(page.getByRole("status")).toContainText("This question was answered over HTTP");
  await note.getByRole("button", { name: "Dismiss" }).click();
  await expect(note).toHaveCount(0);
  await expectResult(page, { action: "accept", answer: 4 });
});

test("one's own answer needs no such sentence", async ({ page }) => {
  await askKitchenSink(page, "integer");
  await set(dialog(page), "integer", "4");
  await press(dialog(page), "Submit");
  await expectResult(page, { action: "accept", answer: 4 });
  await expect(page.locator(".closed-note")).toHaveCount(0);
});

test("earlier answers stay in sight", async ({ page }) => {
  await startRun(page, "wizard");
  await set(dialog(page), "name", "Ada Lovelace");
  await press(dialog(page), "Submit");
  await expect(field(dialog(page), "email")).toBeVisible();
  const earlier = page.locator("#earlier");
  await expect(earlier).toContainText("1 earlier answer");
  await expect(earlier).toContainText("Ada Lovelace");
  await earlier.locator("summary").click();
  await expect(earlier.locator("dd")).toHaveText("Ada Lovelace");
  await page.reload();
  await expect(earlier).toContainText("Ada Lovelace");
});

test("parked on a phone, every button has its word whole", async ({ page }) => {
  await page.setViewportSize({ width: 390, height: 844 });
  await askKitchenSink(page, "form");
  for (const name of ["Submit", "Decline", "Cancel", "Later"]) {
    const button = dialog(page).getByRole("button", { name, exact: true });
    expect((await button.boundingBox()).height, name).toBeLessThan(48);
  }
  await press(dialog(page), "Later");
  await reopen(page);
  await expect(dialog(page)).toBeVisible();
});

test("a deadline counts down, and none is invented", async ({ page }) => {
  await askKitchenSink(page, "text");
  await expect(page.locator(".deadline")).toHaveCount(0);
  await page.evaluate(() => {
    const deadline = document.createElement("span");
    deadline.className = "deadline";
    deadline.dataset.left = "2900"; // as the server renders it
    document.querySelector("dialog.ask").append(deadline);
  });
  await expect(page.locator(".deadline")).toHaveText(/^expires in [12] s$/);
  await expect(page.locator(".deadline")).toHaveText("has expired");
});

test("a long answer before does not push the next question out of sight", async ({ page }) => {
  await startRun(page, "summarize");
  await set(dialog(page), "text", "One line that is longer than the column it is told in, and goes on and on. ".repeat(5));
  await press(dialog(page), "Submit");
  await expect(dialog(page)).toContainText("Answer in the model's place");
  const right = (selector) => page.locator(selector).evaluate((e) => e.getBoundingClientRect().right);
  expect(await right("dialog.ask[open]")).toBeLessThanOrEqual(await right(".dock"));
});
