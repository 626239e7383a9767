// Questions on the page: the focus, drafts, and the note when someone else answered
// first.
import { test, expect } from "./support/fixtures.js";
import { askKitchenSink, dialog, expectResult, expectSet, field, pressButton, reopen, fillField, startRun } from "./support/run-page.js";

test("the focus goes to the first field, and then to the next question", async ({ page }) => {
  await askKitchenSink(page, "all");
  await expect(field(dialog(page), "name")).toBeFocused();
  await page.keyboard.type("Ada");
  await page.keyboard.press("Control+Enter");
  await expect(field(dialog(page), "environment")).toBeFocused();
  await page.keyboard.press("Space");
  await page.keyboard.press("Control+Enter");
  await expectResult(page, { action: "accept", answer: { name: "Ada", environment: "dev" } });
});

/** expectTopInSight expects the top of a question to be in sight below the run's head. */
async function expectTopInSight(page) {
  await expect(page.locator("#run-head")).toBeInViewport();
  await expect.poll(() => dialog(page).evaluate((e) => {
    const { top } = e.getBoundingClientRect();
    return top >= document.querySelector("#run-head").getBoundingClientRect().bottom && top < innerHeight / 2;
  })).toBe(true);
}

test("a form of seven fields is in sight whole, beside what it is about, and leads to the first field that needs an answer", async ({ page }) => {
  await askKitchenSink(page, "form");
  await expect(field(dialog(page), "name")).toBeFocused(); // not the preset radio button
  await expectTopInSight(page);
  await expect(dialog(page).locator(".field")).toHaveCount(7);
  await expect.poll(() => dialog(page).evaluate((e) => {
    const { top } = e.querySelector(":scope > .actions").getBoundingClientRect();
    const covered = (field) => field.getBoundingClientRect().bottom > top + 12; // of which 12 are a shadow
    return [...e.querySelectorAll(".field")].filter(covered).map((field) => field.innerText);
  })).toEqual([]);

  await page.getByRole("link", { name: /^Inbox/ }).click();
  await page.getByRole("link", { name: /^Open run/ }).click();
  await expect(field(dialog(page), "name")).toBeFocused();
  await expectTopInSight(page);

  await page.setViewportSize({ width: 1920, height: 1080 });
  await expect.poll(() => page.evaluate(() => {
    const box = (selector) => document.querySelector(selector).getBoundingClientRect();
    return box("#asks").left - box(".timeline-section").right;
  })).toBeLessThan(60);
  await pressButton(dialog(page), "Decline");
  await expectResult(page, { action: "decline" });
  const chart = page.getByRole("main").getByRole("img", { name: "Lines" });
  await expect.poll(() => chart.evaluate((e) => e.getBoundingClientRect().width)).toBeGreaterThan(1000);
});

test("a new question does not take the focus from a field", async ({ page }) => {
  await startRun(page, "wizard");
  await fillField(dialog(page), "name", "Ada");
  await page.getByRole("searchbox", { name: "Find a photon" }).focus();
  await dialog(page).locator("form").first().evaluate((form) => form.requestSubmit());
  await expect(field(dialog(page), "email")).toBeVisible();
  await expect(page.getByRole("searchbox", { name: "Find a photon" })).toBeFocused();
});

test("postponing moves the focus to the link that reopens the question", async ({ page }) => {
  await askKitchenSink(page, "text");
  await expect(field(dialog(page), "text")).toBeFocused();
  await page.keyboard.press("Escape");
  await expect(page.getByRole("link", { name: /^Answer/ })).toBeFocused();
  await page.keyboard.press("Enter");
  await expect(field(dialog(page), "text")).toBeFocused();
});

test("Ctrl+Enter does not confirm", async ({ page }) => {
  await askKitchenSink(page, "confirm");
  await expect(dialog(page).getByRole("heading")).toBeFocused();
  await page.keyboard.press("Control+Enter");
  await expect(dialog(page)).toBeVisible();
  await pressButton(dialog(page), "Yes");
  await expectResult(page, { action: "accept", answer: true });
});

test("a draft survives postponing, errors and a reload, and is removed with its question", async ({ page }) => {
  await askKitchenSink(page, "form");
  const draft = { name: "Ada", email: "nobody", topics: ["logging"], newsletter: false };
  for (const [name, value] of Object.entries(draft)) await fillField(dialog(page), name, value);
  await pressButton(dialog(page), "Submit");
  await expect(field(dialog(page), "email")).toHaveAttribute("aria-invalid", "true");
  await pressButton(dialog(page), "Later");
  await page.reload();
  for (const [name, value] of Object.entries(draft)) await expectSet(dialog(page), name, value);
  await fillField(dialog(page), "email", "ada@example.org");
  await pressButton(dialog(page), "Submit");
  await expectResult(page, { action: "accept" });
  await expect.poll(() => page.evaluate(() => Object.keys(sessionStorage))).toEqual([]);
});

test("a secret is not stored", async ({ page }) => {
  await askKitchenSink(page, "secret");
  await field(dialog(page), "secret").pressSequentially("correct horse");
  expect(await page.evaluate(() => JSON.stringify([{ ...sessionStorage }, { ...localStorage }]))).not.toContain("horse");
  await page.reload();
  await expectSet(dialog(page), "secret", "");
});

test("a question answered elsewhere closes with a note that can be dismissed", async ({ page }) => {
  await askKitchenSink(page, "integer");
  await field(dialog(page), "integer").pressSequentially("1");
  const { asks } = await (await page.request.get(page.url(), { headers: { Accept: "application/json" } })).json();
  await page.request.post("/mcp/request", {
    data: { jsonrpc: "2.0", id: asks[0].id, result: { action: "accept", content: { integer: 4 } } },
  });
  const note = page.locator(".closed-note");
  await expect(note).toContainText(/This question was answered (by \w+ )?over HTTP/);
  await expect(note).toBeFocused();
  await expect(page.getByRole("status")).toContainText(/This question was answered (by \w+ )?over HTTP/);
  await note.getByRole("button", { name: "Close" }).click();
  await expect(note).toHaveCount(0);
  await expectResult(page, { action: "accept", answer: 4 });
});

test("a question answered elsewhere while the page loads closes with a note, too", async ({ page, context }) => {
  await askKitchenSink(page, "integer");
  await expect(dialog(page)).toBeVisible();
  const { asks } = await (await page.request.get(page.url(), { headers: { Accept: "application/json" } })).json();
  const late = await context.newPage();
  const answered = Promise.withResolvers();
  await late.route(/\/static\/beam\.[^/]*\.js$/, (route) => answered.promise.then(() => route.continue()));
  await late.goto(page.url(), { waitUntil: "commit" });
  await expect(dialog(late)).toBeVisible();
  await page.request.post("/mcp/request", {
    data: { jsonrpc: "2.0", id: asks[0].id, result: { action: "accept", content: { integer: 4 } } },
  });
  await expectResult(page, { action: "accept", answer: 4 }); // by now, updates would have come to the other page, too
  answered.resolve();
  await expect(late.locator(".closed-note")).toContainText(/This question was answered (by \w+ )?over HTTP/);
});

test("the page's own answer shows no note", async ({ page }) => {
  await askKitchenSink(page, "integer");
  await fillField(dialog(page), "integer", "4");
  await pressButton(dialog(page), "Submit");
  await expectResult(page, { action: "accept", answer: 4 });
  await expect(page.locator(".closed-note")).toHaveCount(0);
});

test("earlier answers stay visible", async ({ page }) => {
  await startRun(page, "wizard");
  await fillField(dialog(page), "name", "Ada Lovelace");
  await pressButton(dialog(page), "Submit");
  await expect(field(dialog(page), "email")).toBeVisible();
  const earlier = page.locator("#earlier");
  await expect(earlier).toContainText("1 earlier answer");
  await expect(earlier).toContainText("Ada Lovelace");
  await earlier.locator("summary").click();
  await expect(earlier.locator("dd")).toHaveText("Ada Lovelace");
  await page.reload();
  await expect(earlier).toContainText("Ada Lovelace");
});

test("on a phone, no button label wraps", async ({ page }) => {
  await page.setViewportSize({ width: 390, height: 844 });
  await askKitchenSink(page, "form");
  for (const name of ["Submit", "Decline", "Dismiss", "Later"]) {
    const button = dialog(page).getByRole("button", { name, exact: true });
    await expect.poll(() => button.evaluate((e) => e.getBoundingClientRect().height), name).toBeLessThan(48);
  }
  await pressButton(dialog(page), "Later");
  await reopen(page);
  await expect(dialog(page)).toBeVisible();
});

test("a deadline counts down, and is absent if there is none", async ({ page }) => {
  await askKitchenSink(page, "text");
  await expect(page.locator(".deadline")).toHaveCount(0);
  const setDeadline = (left) => page.evaluate((left) => {
    document.querySelector(".deadline")?.remove();
    const deadline = document.createElement("span");
    deadline.className = "deadline";
    deadline.dataset.left = left; // as the server renders it
    document.querySelector("dialog.ask").append(deadline);
  }, left);
  await setDeadline("300500");
  await expect(page.locator(".deadline")).toHaveText(/^expires in 5 min 0 s$|^expires in 4 min/);
  await expect(page.locator(".deadline")).toHaveText(/^expires in 4 min/);
  await setDeadline("1500");
  await expect(page.locator(".deadline")).toHaveText("has expired");
});

test("a long earlier answer does not push the next question out of view", async ({ page }) => {
  await startRun(page, "summarize");
  await fillField(dialog(page), "text", "One line that is longer than the column it is told in, and goes on and on. ".repeat(5));
  await pressButton(dialog(page), "Submit");
  await expect(dialog(page)).toContainText("Answer in the model's place");
  await expect.poll(() => page.evaluate(() => {
    const right = (selector) => document.querySelector(selector).getBoundingClientRect().right;
    return right("dialog.ask[open]") - right(".dock");
  })).toBeLessThanOrEqual(0);
});
