// Several questions in a row, with a side effect that happens once.
import { test, expect } from "./support/fixtures.js";
import { dialog, expectEnd, expectResult, pressButton, result, fillField, startRun } from "./support/run-page.js";

test("a name, a form, a confirmation, and one reservation", async ({ page }) => {
  await startRun(page, "wizard");
  await fillField(dialog(page), "name", "Ada");
  await pressButton(dialog(page), "Submit");

  await fillField(dialog(page), "email", "ada@example.org");
  await fillField(dialog(page), "role", "editor");
  await pressButton(dialog(page), "Submit");

  const reserved = page.locator("#timeline .r-status").filter({ hasText: "reserved" });
  await expect(reserved).toHaveCount(1);
  const [reservation] = (await reserved.textContent()).match(/\d{8}/);
  await expect(dialog(page)).toContainText(reservation);
  await page.reload();
  await expect(reserved).toContainText(reservation);

  await pressButton(dialog(page), "Confirm");
  await expectResult(page, {
    name: "Ada",
    email: "ada@example.org",
    role: "editor",
    confirmed: true,
    reservation,
  });
});

test("a question that is declined ends the wizard", async ({ page }) => {
  await startRun(page, "wizard");
  await pressButton(dialog(page), "Decline");
  await expectEnd(page, "declined");
  await expect(result(page)).toContainText('"What is your name?" was declined.');
  const colors = await page.locator("#run-head .state").evaluate((e) => {
    const head = e.closest(".run-head");
    const colorIn = (state) => ((head.className = `run-head ${state}`), getComputedStyle(e).color);
    return Object.fromEntries(["unanswered", "stopped", "completed", "failed"].map((state) => [state, colorIn(state)]));
  });
  expect(colors.unanswered).toBe(colors.stopped); // neither good nor bad
  expect([colors.completed, colors.failed]).not.toContain(colors.unanswered);

  const run = page.locator(`main a[href="${new URL(page.url()).pathname}"]`);
  await page.goto("/runs");
  await page.getByRole("link", { name: "Unanswered", exact: true }).click();
  await expect(page).toHaveURL(/\?state=unanswered$/);
  await expect(run).toContainText("declined:");
  await expect(run).toContainText('"What is your name?" was declined.');
  await page.getByRole("link", { name: "Failed", exact: true }).click();
  await expect(page).toHaveURL(/\?state=failed$/);
  await expect(run).toHaveCount(0);
});
