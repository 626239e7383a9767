// Signing in as the operator, and shutting down.
import { test, expect } from "./support/fixtures.js";
import { start } from "./support/beam.js";
import { callTool, transports } from "./support/mcp-clients.js";
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

test("a browser that has not signed in is told of the MCP clients that wait, and how to see them", async ({ page }) => {
  let answer;
  const asked = new Promise((resolve) => (answer = resolve));
  const { client, signIn, end } = await transports["over HTTP"]({ elicitation: {} }, () => asked);
  try {
    const address = await signIn;
    await page.goto(new URL("/asks", address).href);
    const note = page.locator("#sign-in-note");
    await expect(note).toBeHidden();
    const called = callTool(client, { ask: "integer" });
    await expect(note).toHaveText(/^You see only this browser’s runs. Sign in to see those of MCP clients\.\s*$/);
    await note.getByRole("link", { name: "Sign in" }).click();
    await expect(page.getByRole("main")).toContainText("open a sign-in address");
    await page.goto(new URL("/asks", address).href);
    await expect(note).toBeVisible();
    answer({ action: "accept", content: { integer: 4 } });
    await called;
    await expect(note).toBeHidden();

    await page.goto(address);
    const again = callTool(client, { ask: "integer" });
    await page.goto(new URL("/runs", address).href);
    await expect(note).toBeHidden();
    await expect(page.getByRole("main").getByRole("link", { name: /Kitchen sink/ })).toHaveCount(2);
    await again;
  } finally {
    await page.goto("about:blank");
    await end();
  }
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

for (const javaScriptEnabled of [true, false]) {
  test.describe(`an operator ${javaScriptEnabled ? "with" : "without"} script`, () => {
    test.use({ javaScriptEnabled });

    test("adopts another browser's run, and signs out", async ({ page, browser }) => {
      const beam = await start();
      const other = await browser.newContext({ javaScriptEnabled: true });
      try {
        const theirs = await other.newPage();
        await askKitchenSink(theirs, "text", beam.url);
        await expect(dialog(theirs)).toBeVisible();
        await expect(theirs.getByRole("button", { name: /Adopt|Sign out/ })).toHaveCount(0);

        await page.goto(beam.signIn);
        await page.goto(`${beam.url}/runs`);
        await expect(page.getByRole("main")).toContainText("browser session");
        await page.goto(theirs.url());
        await page.getByRole("button", { name: "Adopt" }).click();
        await expect(page.getByRole("button", { name: "Adopt" })).toHaveCount(0);
        await expect(page.getByRole("main")).toContainText("adopted by operator");
        await expect(theirs.getByRole("heading", { name: "This run belongs to someone else" })).toBeVisible();
        await expect(dialog(theirs)).toHaveCount(0);

        await page.getByRole("button", { name: "Sign out" }).click();
        await expect(page).toHaveURL(`${beam.url}/`);
        await expect(page.getByRole("button", { name: "Sign out" })).toHaveCount(0);
        await page.goto(`${beam.url}/runs`);
        await expect(page.getByRole("main")).toContainText("No runs yet");
      } finally {
        await other.close();
        await page.goto("about:blank");
        await beam.stop();
      }
    });
  });
}
