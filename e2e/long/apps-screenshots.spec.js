// Screenshots of the chat. `make picture` copies two of them to docs.
import { askInChat, expect, press, question, test } from "../support/apps-fixtures.js";
import { fillField } from "../support/run-page.js";
import { takeScreenshot } from "../support/screenshots.js";

/** takePicture writes a picture of the chat alone, for the documentation. */
async function takePicture(page, name) {
  const path = new URL(`../screenshots/apps-docs-${name}.png`, import.meta.url).pathname;
  await page.emulateMedia({ colorScheme: "light" });
  await page.setViewportSize({ width: 820, height: 1000 });
  const { x, y, width, height } = await page.locator("#chat").boundingBox();
  await page.screenshot({ path, clip: { x: x - 16, y: Math.max(0, y - 8), width: width + 32, height: height + 24 } });
  await page.setViewportSize({ width: 1280, height: 800 });
}

test("a question in the chat, errors, and the end", async ({ host, page }) => {
  await page.setViewportSize({ width: 1280, height: 800 });
  const wizard = await host.call("wizard", {});
  await expect(question(wizard.frame)).toBeVisible();
  await fillField(question(wizard.frame), "name", "Ada Lovelace");
  await takeScreenshot(page, "apps-question");
  await takePicture(page, "question");
  await press(question(wizard.frame), "Submit");
  for (const [name, value] of Object.entries({ email: "ada@example.org", role: "editor" })) await fillField(question(wizard.frame), name, value);
  await press(question(wizard.frame), "Submit");
  await press(question(wizard.frame), "Confirm");
  await expect(wizard.frame.locator("#state")).toHaveText("completed");
  await takeScreenshot(page, "apps-done");
  await takePicture(page, "done");
  await page.evaluate(() => document.querySelector("section").remove());

  const { frame } = await askInChat(host, "form");
  await press(question(frame), "Submit");
  await expect(frame.locator(".summary")).toBeVisible();
  await takeScreenshot(page, "apps-errors");
  await press(question(frame), "Decline");
  await expect(frame.locator("#state")).toHaveText("completed");
  await page.evaluate(() => document.querySelector("section").remove());

  const end = await host.call("book_dinner", { date: "2026-12-24", time: "19:00" });
  await expect(question(end.frame)).toBeVisible();
  await takeScreenshot(page, "apps-dinner");
  await page.evaluate(() => document.querySelector("section").remove());

  const evidence = await askInChat(host, "evidence");
  await takeScreenshot(page, "apps-evidence");
  await expect(evidence.frame.getByRole("link", { name: "Open in Beam" }).first()).toBeVisible();
});
