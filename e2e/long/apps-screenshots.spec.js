// Screenshots of the chat. `make picture` copies two of them to docs.
import { askInChat, expect, press, question, test } from "../support/apps-fixtures.js";
import { fillField } from "../support/run-page.js";
import { takeScreenshot } from "../support/screenshots.js";

/** takePicture writes a picture of the chat alone, for the documentation. */
async function takePicture(page, name) {
  const path = new URL(`../screenshots/apps-docs-${name}.png`, import.meta.url).pathname;
  await page.emulateMedia({ colorScheme: "light" });
  await page.setViewportSize({ width: 820, height: 900 });
  await page.locator("#chat").screenshot({ path });
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

  const made = await askInChat(host, "select");
  await fillField(question(made.frame), "select", "staging");
  await press(question(made.frame), "Submit");
  await expect(made.frame.locator("#state")).toHaveText("completed");
  await made.frame.locator("#section").evaluate((section) => section.scrollTo(0, section.querySelector("svg.plot").getBoundingClientRect().top - 120));
  await takeScreenshot(page, "apps-done");
  await takePicture(page, "done");
  await page.evaluate(() => document.querySelector("section").remove());

  const evidence = await askInChat(host, "evidence");
  await takeScreenshot(page, "apps-evidence");
  await expect(evidence.frame.getByRole("link", { name: "Open in Beam" }).first()).toBeVisible();
});
