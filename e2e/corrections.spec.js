// A field that the person corrects loses its error, and shows its rules again.
import { expectAccessible } from "./support/axe.js";
import { test, expect } from "./support/fixtures.js";
import { askKitchenSink, dialog, expectError, expectResult, field, fillField, pressButton } from "./support/run-page.js";

test.use({ tolerated: [/status of 422/] }); // of a form that starts a run

const summary = (page) => page.locator(".summary");

test("errors go as fields are corrected, one by one", async ({ page }) => {
  await askKitchenSink(page, "form");
  await fillField(dialog(page), "age", 17);
  await fillField(dialog(page), "topics", ["auth", "logging", "metrics"]);
  await pressButton(dialog(page), "Submit");
  await expect(summary(page)).toContainText("Fix 4 fields");
  await expectError(dialog(page), "age", "Enter an age from 18 to 120");

  const age = field(dialog(page), "age");
  await age.fill("18");
  await expect(age).not.toHaveAttribute("aria-invalid");
  await expect(age).toHaveAccessibleDescription("From 18 to 120");
  await expect(dialog(page).locator(".error", { hasText: "Enter an age" })).toHaveCount(0);
  await expect(summary(page)).toContainText("Fix 3 fields");
  await expect(summary(page).getByRole("link")).toHaveCount(3);
  await expectError(dialog(page), "email", /Enter an email/); // the others keep theirs
  await expectAccessible(page);

  await field(dialog(page), "topics").click();
  const topics = dialog(page).getByRole("group", { name: "Topics" });
  await expect(topics).toHaveAccessibleDescription("1 or 2 choices");
  await field(dialog(page), "name").pressSequentially("A");
  await field(dialog(page), "email").pressSequentially("x");
  await expect(summary(page)).toHaveCount(0);
  await expect(dialog(page).locator(".wrong, [aria-invalid], .error")).toHaveCount(0);
  await expectAccessible(page);

  await pressButton(dialog(page), "Submit"); // and the next submission checks them again
  await expectError(dialog(page), "email", /Enter an email, such as/);
  await expect(summary(page)).toBeFocused();
  await field(dialog(page), "email").fill("ada@example.org");
  await pressButton(dialog(page), "Submit");
  await expectResult(page, { action: "accept", answer: { name: "A", age: 18 } });
});

test("the error of a file goes when one is chosen", async ({ page }) => {
  await askKitchenSink(page, "file");
  await pressButton(dialog(page), "Submit");
  await expectError(dialog(page), "file", /^Choose a file/);
  await fillField(dialog(page), "file", { name: "notes.txt", mimeType: "text/plain", buffer: Buffer.from("Beam") });
  await expect(field(dialog(page), "file")).not.toHaveAttribute("aria-invalid");
  await expect(summary(page)).toHaveCount(0);
});

test("the errors of a form that starts a run go, too", async ({ page }) => {
  await page.goto("/photons/countdown");
  const seconds = page.getByRole("spinbutton", { name: "Seconds" });
  await seconds.fill("4000");
  await page.getByRole("button", { name: "Run", exact: true }).click();
  await expect(summary(page)).toBeVisible();
  await expect(seconds).toHaveAttribute("aria-invalid", "true");
  await page.waitForLoadState(); // until its script has run
  await seconds.fill("5");
  await expect(seconds).toHaveAccessibleDescription(/From 1 to 3,?600/);
  await expect(page.getByRole("main").locator(".fields .wrong, .fields [aria-invalid], .fields .error")).toHaveCount(0);
  await expect(summary(page)).toHaveCount(0);
  await expectAccessible(page);
});
