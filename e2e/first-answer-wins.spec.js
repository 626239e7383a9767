// A person in the browser and an MCP client, asked the same question at once:
// the first answer wins, and the other is told. See internal/mcp/matrix for
// every other case.
import { test, expect } from "./support/fixtures.js";
import { callTool, ways } from "./support/mcp-clients.js";
import { dialog, field, press, set } from "./support/run-page.js";

const asked = { elicitation: { form: {}, url: {} } };
const accept = (integer) => ({ action: "accept", content: { integer } });

// openInInbox follows the inbox's only question to where it is answered.
async function openInInbox(page) {
  await page.goto(new URL("/asks", page.url()).href);
  await page.getByRole("main").locator('a[href^="/runs/"]').first().click();
  await expect(dialog(page)).toBeVisible();
}

for (const [way, connect] of Object.entries(ways)) {
  test.describe(way, () => {
    let beam;
    test.afterEach(async ({ context }) => {
      for (const page of context.pages()) await page.goto("about:blank");
      await beam.end();
    });

    test("the browser is first, and the client's question is taken back", async ({ page }) => {
      const shown = Promise.withResolvers();
      const takenBack = Promise.withResolvers();
      beam = await connect(asked, (_, { signal }) => {
        shown.resolve();
        signal.addEventListener("abort", () => takenBack.resolve(signal.reason));
        return new Promise(() => {});
      });
      await page.goto(await beam.signIn);
      const call = callTool(beam.client, { ask: "integer" });
      await shown.promise;
      await openInInbox(page);
      await set(dialog(page), "integer", 4);
      await press(dialog(page), "Submit");
      expect(String(await takenBack.promise)).toContain("answered from browser");
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
      await set(dialog(page), "integer", 7);
      answer.resolve(accept(4));
      expect((await call).structuredContent).toMatchObject({ action: "accept", answer: 4 });
      await expect(page.getByRole("main")).toContainText("This question was answered by the MCP client");
      await expect(inbox.getByRole("main").locator('a[href^="/runs/"]')).toHaveCount(0);
    });

    test("both are at once, and agree on who was first", async ({ page }) => {
      const answer = Promise.withResolvers();
      const shown = Promise.withResolvers();
      beam = await connect(asked, () => (shown.resolve(), answer.promise));
      await page.goto(await beam.signIn);
      const call = callTool(beam.client, { ask: "integer" });
      await shown.promise;
      await openInInbox(page);
      await set(dialog(page), "integer", 7);
      await field(dialog(page), "integer").focus();
      await Promise.all([page.keyboard.press("Enter"), answer.resolve(accept(4))]);
      const { answer: first } = (await call).structuredContent;
      expect([4, 7]).toContain(first);
      if (first === 7) await expect(dialog(page)).toHaveCount(0);
      else await expect(page.getByRole("main")).toContainText("This question was answered by the MCP client");
    });

    test.describe("a client that can't be asked", () => {
      test.use({ tolerated: [/status of 403/] }); // the sign-in page

      test("gives the link, and its call ends with the answer", async ({ page }) => {
        const link = Promise.withResolvers();
        beam = await connect({});
        const call = callTool(beam.client, { ask: "integer" }, {
          onprogress: ({ message }) => {
            const address = message?.match(/http:\/\/\S+\/asks\/[^\s:]+/);
            if (address) link.resolve(address[0]);
          },
        });
        const address = await link.promise;
        await test.step("a stranger is asked to sign in", async () => {
          const stranger = await page.goto(address);
          expect(stranger.status()).toBe(403);
          await expect(page.getByRole("heading", { name: "Sign in" })).toBeVisible();
        });
        await page.goto(await beam.signIn);
        await expect(page).toHaveURL(address); // and its owner is asked nothing
        await set(dialog(page), "integer", 4);
        await press(dialog(page), "Submit");
        expect((await call).structuredContent).toMatchObject({ action: "accept", answer: 4 });
      });
    });
  });
}
