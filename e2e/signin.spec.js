// Signing in as the operator, and shutting down.
import { test, expect } from "./support/fixtures.js";
import { start } from "./support/beam.js";
import { askKitchenSink, dialog, expectEnd } from "./support/run-page.js";

test.describe("a sign-in address", () => {
  test.use({ tolerated: [/status of 403/] });

  test("works once", async ({ page, browser }) => {
    const beam = await start();
    const other = await browser.newContext();
    try {
      await page.goto(beam.signIn);
      await expect(page).toHaveURL(`${beam.url}/`);
      const late = await other.newPage();
      const answer = await late.goto(beam.signIn);
      expect(answer.status()).toBe(403);
      await expect(late.getByRole("main")).toContainText("already used");
    } finally {
      await other.close();
      await page.goto("about:blank");
      await beam.stop();
    }
  });
});

test.describe("SIGTERM", () => {
  // The page tries to reconnect to the stopped server.
  test.use({ tolerated: [/ERR_CONNECTION_REFUSED|ERR_INCOMPLETE_CHUNKED_ENCODING/] });

  test("ends Beam cleanly while a question is open, and the page shows it", async ({ page }) => {
    const beam = await start();
    const stream = page.waitForResponse(/\/events/); // once open, the stream delivers the end of the run
    await askKitchenSink(page, "text", beam.url);
    await expect(dialog(page)).toBeVisible();
    await stream;
    await beam.stop();
    await expectEnd(page, "interrupted");
    await expect(dialog(page)).toHaveCount(0);
  });
});
