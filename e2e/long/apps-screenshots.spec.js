// Screenshots of the chat. `make picture` copies two of them to docs.
import { askInChat, expect, press, question, test } from "../support/apps-fixtures.js";
import { fillField } from "../support/run-page.js";
import { takeScreenshot } from "../support/screenshots.js";

test("a question in the chat, errors, and the end", async ({ host, page }) => {
  await page.setViewportSize({ width: 1280, height: 800 });
  const wizard = await host.call("wizard", {});
  await expect(question(wizard.frame)).toBeVisible();
  await fillField(question(wizard.frame), "name", "Ada Lovelace");
  await takeScreenshot(page, "apps-question");
  await press(question(wizard.frame), "Submit");
  await expect(question(wizard.frame).locator("[name=email]")).toBeVisible();
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
