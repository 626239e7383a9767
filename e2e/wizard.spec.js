// Several questions in a row, with a side effect that happens once.
import { test, expect } from "./support/fixtures.js";
import { dialog, expectResult, pressButton, result, fillField, startRun } from "./support/run-page.js";

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
  await expect(result(page)).toContainText("declined");
});
