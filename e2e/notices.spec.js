// Notifications of the browser that questions wait.
import { test, expect } from "./support/fixtures.js";
import { askKitchenSink } from "./support/run-page.js";

// Chromium without its windows has no notifications.
test.use({ launchOptions: { executablePath: "/usr/bin/chromium", args: ["--no-sandbox", "--headless=new"] } });

/** record keeps the notifications of a page, which it takes for one that is out of sight. */
const record = (page) =>
  page.addInitScript(() => {
    window.notices = [];
    window.Notification = class extends Notification {
      constructor(title, options) {
        super(title, options);
        window.notices.push([title, options.body]);
      }
    };
    Object.defineProperty(document, "hidden", { get: () => true });
  });

test("are shown once they are turned on, and say nothing of the question", { tag: "@long" }, async ({ page, context }) => {
  await context.grantPermissions(["notifications"]);
  const inbox = await context.newPage();
  await record(inbox);
  await inbox.goto("/asks");
  const button = inbox.getByRole("button", { name: "Notify me in this browser" });
  await expect(button).toHaveAttribute("aria-pressed", "false");
  await askKitchenSink(page, "text");
  await expect(inbox).toHaveTitle(/^\(1\)/);
  expect(await inbox.evaluate("notices")).toEqual([]);
  await button.click();
  await expect(button).toHaveAttribute("aria-pressed", "true");
  await askKitchenSink(page, "text");
  await expect.poll(() => inbox.evaluate("notices")).toEqual([["Beam", "2 questions wait for you."]]);

  await inbox.reload(); // it is still on, and what waits already is not new
  await expect(button).toHaveAttribute("aria-pressed", "true");
  expect(await inbox.evaluate("notices")).toEqual([]);
  await button.click();
  await expect(button).toHaveAttribute("aria-pressed", "false");
  await askKitchenSink(page, "text");
  await expect(inbox).toHaveTitle(/^\(3\)/);
  expect(await inbox.evaluate("notices")).toEqual([]);
});

test("are not offered by a browser without them", { tag: "@long" }, async ({ page }) => {
  await page.addInitScript("delete window.Notification");
  await page.goto("/asks");
  await expect(page.getByRole("heading", { name: "Inbox" })).toBeVisible();
  await expect(page.locator("#notices")).toBeHidden();
});
