// A question shows what it is about wherever it is asked, and afterwards in the timeline.
import { test, expect } from "./support/fixtures.js";
import { expectAccessible } from "./support/axe.js";
import { askKitchenSink, dialog, expectResult, pressButton } from "./support/run-page.js";

const group = (scope) => scope.getByRole("group", { name: "Shown with the question" });

/** expectBoxes expects what a function says of the boxes of elements within a scope to come true. */
const expectBoxes = (scope, selectors, holds) =>
  expect.poll(async () => holds(...await scope.evaluate((e, all) => all.map((s) => e.querySelector(s).getBoundingClientRect().toJSON()), selectors))).toBe(true);

async function expectEvidence(scope) {
  await expect(group(scope)).toContainText("+seats = 400");
  await expect(group(scope).getByRole("cell", { name: "billing" })).toBeVisible();
}

test("beside the question, in the dock and on its own page", { tag: "@accessible" }, async ({ page }) => {
  await askKitchenSink(page, "evidence");
  await expectEvidence(dialog(page));
  await expect(dialog(page).getByRole("button", { name: "Replace" })).toBeInViewport();
  await expectAccessible(page);

  const download = page.waitForEvent("download");
  await dialog(page).getByRole("link", { name: "Download settings.toml" }).click();
  expect((await download).url()).toMatch(/\/asks\/[^/]+\/evidence\/0$/);

  const [{ id }] = (await (await page.request.get(page.url(), { headers: { Accept: "application/json" } })).json()).asks;
  await page.goto(`/asks/${id}`);
  await expectEvidence(dialog(page));
  await expectAccessible(page);
  await page.setViewportSize({ width: 1920, height: 1080 });
  await expectBoxes(dialog(page), [".evidence", "h2", ".actions"], (evidence, question, actions) => evidence.right <= question.left && actions.top - question.top < 300);
  await page.setViewportSize({ width: 360, height: 800 });
  await expectBoxes(dialog(page), [".evidence", "h2", ".actions"], (evidence, question, actions) => evidence.top > question.top && evidence.top < actions.top);
  await pressButton(dialog(page), "Keep");
  await expectResult(page, { action: "accept", answer: false });
});

test("in the inbox beside the question, and it stays folded while the list changes", { tag: "@accessible" }, async ({ page, context }) => {
  await askKitchenSink(page, "evidence");
  await page.goto("/asks");
  const shown = page.locator(".inbox-list details.shown");
  await expect(shown).toHaveCount(1);
  await expectEvidence(shown);
  await expectAccessible(page);
  await expectBoxes(page.locator(".inbox-list"), ["h2", "details.shown [role=group]"], (question, evidence) => question.right <= evidence.left && evidence.top - question.top < 60);
  await shown.getByText("Shows settings.toml, Who uses them").click();
  await expect(group(shown)).toBeHidden();
  await askKitchenSink(await context.newPage(), "text");
  await expect(page.locator(".inbox-list > li")).toHaveCount(2);
  await expect(group(shown)).toBeHidden();
});

test("in the timeline once it is answered, folded", { tag: "@accessible" }, async ({ page }) => {
  await askKitchenSink(page, "evidence");
  await pressButton(dialog(page), "Replace");
  await expectResult(page, { action: "accept", answer: true });
  const row = page.locator(".row.r-ask");
  await expect(group(row)).toBeHidden();
  await row.getByText("Showed settings.toml, Who uses them").click();
  await expectEvidence(row);
  await expectAccessible(page);
  await page.reload();
  await expect(row).toContainText("Showed settings.toml, Who uses them");
});

test.describe("without script", () => {
  test.use({ javaScriptEnabled: false });
  test("on the question's page", async ({ page }) => {
    await page.goto("/photons/kitchen_sink");
    await page.locator('[name="ask"]').selectOption("evidence");
    await page.getByRole("button", { name: "Run", exact: true }).click();
    await expectEvidence(page.getByRole("main").locator("dialog"));
  });
});
