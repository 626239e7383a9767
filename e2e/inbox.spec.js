// Answering one question after the other in the inbox.
import { expectAccessible } from "./support/axe.js";
import { test, expect } from "./support/fixtures.js";
import { askKitchenSink, dialog, fillField, pressButton } from "./support/run-page.js";

test("an answer moves the focus to the next question, and at last to the inbox", async ({ page }) => {
  for (const kind of ["text", "integer", "confirm"]) {
    await askKitchenSink(page, kind);
    await expect(dialog(page)).toBeVisible();
  }
  await page.goto("/asks");
  const questions = page.locator(".inbox-list h2 a");
  const texts = await questions.allTextContents();
  expect(texts).toHaveLength(3);
  const status = page.getByRole("status");
  const open = async (name) => {
    await page.locator("li", { hasText: name }).getByRole("link", { name: /^Answer/ }).click();
    await expect(dialog(page)).toBeVisible();
  };

  await open(texts[1]);
  await fillField(dialog(page), "integer", 4);
  await page.keyboard.press("Enter");
  await expect(questions.filter({ hasText: texts[2] })).toBeFocused(); // where the answered one was
  await expect(status.filter({ hasText: `The next question is: ${texts[2]}` })).toBeAttached();
  await expectAccessible(page);

  await open(texts[2]);
  await pressButton(dialog(page), "Decline");
  await expect(questions.filter({ hasText: texts[0] })).toBeFocused();

  await open(texts[0]);
  await fillField(dialog(page), "text", "Ada");
  await page.keyboard.press("Enter");
  await expect(page.getByRole("heading", { name: "Inbox", level: 1 })).toBeFocused();
  await expect(status.filter({ hasText: "No questions are waiting for you." })).toBeAttached();
  await expectAccessible(page);
});
