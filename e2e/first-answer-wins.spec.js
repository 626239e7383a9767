// A person in the browser and an MCP client are asked the same question: the first
// answer wins, and the other side learns of it. See internal/systemtest/matrix for all cases.
import { test, expect } from "./support/fixtures.js";
import { callTool, transports } from "./support/mcp-clients.js";
import { dialog, field, pressButton, fillField } from "./support/run-page.js";

const asked = { elicitation: { form: {}, url: {} } };
const accept = (integer) => ({ action: "accept", content: { integer } });

// openInInbox opens the inbox's only question, and waits for the page and its script.
async function openInInbox(page) {
  await page.goto(new URL("/asks", page.url()).href);
  await page.getByRole("main").locator('a[href^="/runs/"]').first().click();
  await page.waitForURL(/\/runs\/[^/]+$/); // and until its script has run
  await expect(dialog(page)).toBeVisible();
}

for (const [name, connect] of Object.entries(transports)) {
  test.describe(name, () => {
    let beam;
    test.afterEach(async ({ context }) => {
      for (const page of context.pages()) await page.goto("about:blank");
      await beam.end();
    });

    test("the browser is first, and the client's request is cancelled", async ({ page }) => {
      const shown = Promise.withResolvers();
      const cancelled = Promise.withResolvers();
      beam = await connect(asked, (_, { signal }) => {
        shown.resolve();
        signal.addEventListener("abort", () => cancelled.resolve(signal.reason));
        return new Promise(() => {});
      });
      await page.goto(await beam.signIn);
      const call = callTool(beam.client, { ask: "integer" });
      await shown.promise;
      await openInInbox(page);
      await fillField(dialog(page), "integer", 4);
      await pressButton(dialog(page), "Submit");
      expect(String(await cancelled.promise)).toContain("answered from browser");
      expect((await call).structuredContent).toMatchObject({ action: "accept", answer: 4 });
      await expect(dialog(page)).toHaveCount(0);
    });

    test("the client is first, and the question closes in the browser", async ({ page, context }) => {
      const answer = Promise.withResolvers();
      const shown = Promise.withResolvers();
      beam = await connect(asked, () => (shown.resolve(), answer.promise));
      await page.goto(await beam.signIn);
      const call = callTool(beam.client, { ask: "integer" });
      await shown.promise;
      const inbox = await context.newPage();
      await inbox.goto(new URL("/asks", page.url()).href);
      await expect(inbox.getByRole("main").locator('a[href^="/runs/"]')).not.toHaveCount(0);
      await openInInbox(page);
      await fillField(dialog(page), "integer", 7);
      answer.resolve(accept(4));
      expect((await call).structuredContent).toMatchObject({ action: "accept", answer: 4 });
      await expect(page.getByRole("main")).toContainText("This question was answered by the MCP client");
      await expect(inbox.getByRole("main").locator('a[href^="/runs/"]')).toHaveCount(0);
    });

    test("both answer at once, and agree on who was first", async ({ page }) => {
      const answer = Promise.withResolvers();
      const shown = Promise.withResolvers();
      beam = await connect(asked, () => (shown.resolve(), answer.promise));
      await page.goto(await beam.signIn);
      const call = callTool(beam.client, { ask: "integer" });
      await shown.promise;
      await openInInbox(page);
      await fillField(dialog(page), "integer", 7);
      await field(dialog(page), "integer").focus();
      await Promise.all([page.keyboard.press("Enter"), answer.resolve(accept(4))]);
      const { answer: first } = (await call).structuredContent;
      expect([4, 7]).toContain(first);
      if (first === 7) await expect(dialog(page)).toHaveCount(0);
      else await expect(page.getByRole("main")).toContainText("This question was answered by the MCP client");
    });

    test.describe("a client that can't be asked", () => {
      test.use({ tolerated: [/status of 403/] }); // the sign-in page

      test("gets the link at once, and the result when it resumes the run", async ({ page }) => {
        beam = await connect({});
        const { content } = await callTool(beam.client, { ask: "integer" });
        const [, address, run] = content[0].text.match(/Answer at: (http:\/\/\S+\/asks\/(\w+)\.\S+)/);
        await test.step("a stranger is asked to sign in", async () => {
          const stranger = await page.goto(address);
          expect(stranger.status()).toBe(403);
          await expect(page.getByRole("heading", { name: "Sign in" })).toBeVisible();
        });
        await page.goto(await beam.signIn);
        await expect(page).toHaveURL(address); // the owner need not confirm anything
        await fillField(dialog(page), "integer", 4);
        await pressButton(dialog(page), "Submit");
        const { structuredContent } = await beam.client.callTool({ name: "beam_resume", arguments: { run } });
        expect(structuredContent).toMatchObject({ action: "accept", answer: 4 });
      });
    });
  });
}
