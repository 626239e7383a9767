// Requests to a model, which a person approves.
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test as base, expect, untilOffered, watch } from "./support/fixtures.js";
import { start } from "./support/beam.js";
import { startModelServer } from "./support/model-server.js";
import { expectAccessible } from "./support/axe.js";
import { result } from "./support/run-page.js";

const require = createRequire(new URL("../interop/package.json", import.meta.url));
const { Client } = require("@modelcontextprotocol/sdk/client/index.js");
const { StreamableHTTPClientTransport } = require("@modelcontextprotocol/sdk/client/streamableHttp.js");
const { CreateMessageRequestSchema } = require("@modelcontextprotocol/sdk/types.js");

// A worker's Beam has models on a server that the tests control. Tests run one after the other.
const test = base.extend({
  models: [
    async ({}, use) => {
      const models = await startModelServer();
      await use(models);
      await models.stop();
    },
    { scope: "worker" },
  ],
  beam: [
    async ({ models }, use) => {
      const beam = await start("--models", models.models);
      await use(beam);
      await beam.stop();
    },
    { scope: "worker" },
  ],
});

test.describe.configure({ mode: "serial" });

const dialog = (page) => page.locator("dialog.approval");
const button = (page, name) => dialog(page).getByRole("button", { name, exact: true });
const reply = (page) => dialog(page).locator(".reply-text");

/** summarize asks for a summary and waits for the approval. */
async function summarize(page, text) {
  await page.goto("/photons/summarize");
  await page.locator('[name="text"]').fill(text);
  await page.getByRole("button", { name: "Run", exact: true }).click();
  await page.waitForURL(/\/runs\/[^/]+$/); // and until its script has run
  await expect(button(page, "Approve")).toBeVisible();
}

test("a request is shown, approved and answered as it arrives", async ({ page, models }) => {
  await summarize(page, "Beam **stops** to ask. <!-- hidden -->");
  await expect(dialog(page).locator(".request strong")).toHaveText("stops");
  await expect(dialog(page).locator(".request pre", { hasText: "<!-- hidden -->" })).toBeVisible();
  await expect(dialog(page)).toContainText("low cost 0.8, speed 0.8");
  await expectAccessible(page);

  await button(page, "Approve").click();
  const call = await models.next();
  expect(call.headers.authorization).toBe("Bearer sk-e2e-secret");
  expect(call.body.messages.at(-1).content).toBe("Beam **stops** to ask. <!-- hidden -->");
  call.say("Beam ");
  await expect(reply(page)).toHaveText("Beam ");
  call.say("asks.");
  await expect(reply(page)).toHaveText("Beam asks.");
  await expect(page.locator(".r-reply .chunk-text")).toHaveText("Beam asks.");
  await expectAccessible(page);
  call.finish();
  await expect(result(page)).toContainText("Beam asks.");
  await expect(dialog(page)).toHaveCount(0);
  await expect(page.locator(".r-ask")).toContainText("answered by the model");
  expect(await page.content()).not.toContain("sk-e2e-secret");
});

test("what a person changes is sent, and the reply may be changed, too", async ({ page, models }) => {
  await summarize(page, "A secret plan");
  await dialog(page).getByText("Edit the request", { exact: true }).click();
  await dialog(page).getByLabel("Message 1, User").fill("A plan");
  await dialog(page).getByLabel("System prompt").fill("Be kind.");
  await dialog(page).getByLabel("Longest reply, in tokens").fill("33");
  await dialog(page).getByLabel("Model", { exact: true }).selectOption("large");
  await dialog(page).getByLabel("Show me the reply before it is returned").check();
  await button(page, "Approve").click();
  const call = await models.next();
  expect(call.body).toMatchObject({
    model: "large-1", max_tokens: 33, messages: [{ role: "system", content: "Be kind." }, { role: "user", content: "A plan" }],
  });
  call.reply("Nonsense.");
  await expect(dialog(page).getByLabel("The reply of large-1")).toHaveValue("Nonsense.");
  await expect(page.locator(".r-ask")).toContainText("the reply waits to be returned");
  await expectAccessible(page);
  await dialog(page).getByLabel("The reply of large-1").fill("Sense.");
  await button(page, "Return the reply").click();
  await expect(result(page)).toContainText("Sense.");
  await expect(page.locator(".r-ask")).toContainText("who changed the model’s reply");
});

test("a reply is withheld", async ({ page, models }) => {
  await summarize(page, "x");
  await dialog(page).getByLabel("Show me the reply before it is returned").check();
  await button(page, "Approve").click();
  (await models.next()).reply("Nonsense.");
  await button(page, "Withhold").click();
  await expect(result(page)).toContainText(/declined/i);
});

test("a request is denied, or answered in the model's place", async ({ page, models }) => {
  const sent = models.requests.length;
  await summarize(page, "x");
  await button(page, "Deny").click();
  await expect(result(page)).toContainText(/declined/i);

  await summarize(page, "y");
  await dialog(page).getByText("Write the answer yourself", { exact: true }).click();
  await dialog(page).getByLabel("Answer", { exact: true }).fill("I say so.");
  await button(page, "Answer in the model’s place").click();
  await expect(result(page)).toContainText("I say so.");
  await expect(result(page)).toContainText("a person");
  expect(models.requests.length).toBe(sent);
});

test("a stopped model is cut off, and may be asked again", async ({ page, models }) => {
  await summarize(page, "x");
  await button(page, "Approve").click();
  const first = await models.next();
  first.say("Hel");
  await expect(reply(page)).toHaveText("Hel");
  await button(page, "Stop the model").click();
  await expect(dialog(page)).toContainText("The call was stopped.");
  await expect.poll(() => first.closed).toBe(true);
  await button(page, "Approve").click();
  const second = await models.next();
  second.say("Hello");
  await expect(reply(page)).toHaveText("Hello");
  await button(page, "Dismiss").click();
  await expect(result(page)).toContainText(/dismissed/);
  await expect.poll(() => second.closed).toBe(true);
});

test("a reload in the middle and another tab show the reply so far, and go on", async ({ page, context, models }) => {
  await summarize(page, "x");
  const other = await context.newPage();
  await other.goto(page.url());
  await button(page, "Approve").click();
  const call = await models.next();
  call.say("One, ");
  await expect(reply(page)).toHaveText("One, ");
  await expect(reply(other)).toHaveText("One, ");
  await page.reload();
  await expect(reply(page)).toHaveText("One, ");
  call.say("two.");
  for (const tab of [page, other]) await expect(reply(tab)).toHaveText("One, two.");
  call.finish();
  for (const tab of [page, other]) await expect(result(tab)).toContainText("One, two.");
});

test("a failure says why, and a refusal for now is tried again", async ({ page, models }) => {
  await summarize(page, "x");
  await button(page, "Approve").click();
  (await models.next()).refuse(429, "slow down", { "Retry-After-Ms": "1" });
  (await models.next()).refuse(401, "who are you?");
  await expect(dialog(page)).toContainText("refused the key (status 401). It says: who are you?");
  await expect(dialog(page)).toContainText("Sending the request again");
  await button(page, "Approve").click();
  (await models.next()).reply("Better.");
  await expect(result(page)).toContainText("Better.");
});

test("what is sent follows the edit, and stays as approved when the model fails, in every tab", async ({ page, context, models }) => {
  await summarize(page, "The plan is secret: 4711");
  const other = await context.newPage(); // has an edit of its own, of the original
  await other.goto(page.url());
  await dialog(other).getByText("Edit the request", { exact: true }).click();
  await dialog(other).getByLabel("Message 1, User").fill("The plan is 4711, really");

  const bytes = dialog(page).locator("pre.body");
  await dialog(page).getByText("Exactly what is sent").click();
  await expect(bytes).toContainText("4711");
  await dialog(page).getByText("Edit the request", { exact: true }).click();
  await dialog(page).getByLabel("Message 1, User").fill("The plan is secret");
  await expect(bytes).not.toContainText("4711");
  await expect(dialog(page).locator(".changes .gd")).toContainText("-The plan is secret: 4711");
  await dialog(page).getByLabel("Temperature").fill("");
  await expect(bytes).not.toContainText("temperature");
  await dialog(page).getByLabel("Model", { exact: true }).selectOption("large");
  await expect(bytes).toContainText('"model": "large-1"');
  await dialog(page).getByLabel("Temperature").fill("warm");
  await expect(dialog(page).locator(".preview")).toContainText("Temperature must be a number, such as 0.7.");
  await dialog(page).getByLabel("Temperature").fill("");
  await expectAccessible(page);
  await expect(bytes).toBeVisible();
  const shown = JSON.parse(await bytes.textContent());
  await button(page, "Approve").click();
  const first = await models.next();
  expect(first.body).toEqual(shown);
  first.refuse(401, "who are you?");

  for (const tab of [page, other]) {
    await expect(dialog(tab)).toContainText("It says: who are you?");
    await expect(dialog(tab).locator(".changes")).toContainText("Changed.");
    expect(JSON.parse(await dialog(tab).locator("pre.body").textContent())).toEqual(shown);
    await expect(dialog(tab).locator('[name="block-0-0"]')).toHaveValue("The plan is secret");
  }
  await page.reload();
  await expect(dialog(page).locator(".changes")).toContainText("Changed.");
  await button(page, "Approve").click();
  const second = await models.next();
  expect(second.body).toEqual(shown);
  second.reply("Fine.");
  await expect(result(page)).toContainText("Fine.");
  await expect(page.locator(".r-reply").last()).toContainText("the request was changed before it was approved");
  await other.close();
});

test("three approvals at once, in the inbox and in any order", async ({ page, context, models }) => {
  const pages = [page, await context.newPage(), await context.newPage()];
  for (const [i, tab] of pages.entries()) await summarize(tab, `text ${i}`);
  const inbox = await context.newPage();
  await inbox.goto("/asks");
  await expect(inbox.locator(".inbox-list > li")).toHaveCount(3);
  const calls = [];
  for (const i of [2, 0, 1]) {
    await button(pages[i], "Approve").click();
    calls[i] = await models.next();
    calls[i].say(`reply ${i}`);
  }
  for (const [i, tab] of pages.entries()) await expect(reply(tab)).toHaveText(`reply ${i}`);
  for (const call of calls) call.finish();
  for (const [i, tab] of pages.entries()) await expect(result(tab)).toContainText(`reply ${i}`);
  await expect(inbox.locator(".inbox-list > li")).toHaveCount(0);
  await inbox.close();
});

test("later requests are approved up to a number, which can be revoked", async ({ page, models }) => {
  await summarize(page, "x");
  await dialog(page).getByText("Approve later requests, too", { exact: true }).click();
  await dialog(page).getByLabel("Requests", { exact: true }).selectOption("tool");
  await button(page, "Approve").click();
  await expect(dialog(page)).toContainText("Number of requests must say how many");
  await dialog(page).getByLabel("At most this many", { exact: true }).fill("5");
  await button(page, "Approve").click();
  (await models.next()).reply("ok");
  await expect(result(page)).toBeVisible();

  await page.goto("/photons/summarize");
  await page.locator('[name="text"]').fill("y");
  await page.getByRole("button", { name: "Run", exact: true }).click();
  (await models.next()).reply("unasked");
  await expect(result(page)).toContainText("unasked");
  await expect(page.locator(".r-reply")).toContainText("a standing approval for the tool summarize; 4 requests left");

  await page.goto("/models");
  await expect(page.getByText("The tool summarize: 4 requests left")).toBeVisible();
  await expectAccessible(page);
  await page.getByRole("button", { name: "Revoke", exact: true }).click();
  await expect(page.getByText("There are none: every request is shown to you first.")).toBeVisible();
});

test.describe("without script", () => {
  test.use({ javaScriptEnabled: false });

  test("a request is approved and denied", async ({ page, models }) => {
    for (const verb of ["Approve", "Deny"]) {
      await page.goto("/photons/summarize");
      await page.locator('[name="text"]').fill("x");
      await page.getByRole("button", { name: "Run", exact: true }).click();
      await expect(async () => {
        if (!(await button(page, verb).isVisible())) await page.reload();
        await expect(button(page, verb)).toBeVisible({ timeout: 500 });
      }).toPass();
      await button(page, verb).click();
      if (verb === "Approve") (await models.next()).reply("Plainly.");
      await expect(async () => {
        if (!(await result(page).isVisible())) await page.reload();
        await expect(result(page)).toContainText(verb === "Approve" ? "Plainly." : /declined/i, { timeout: 500 });
      }).toPass();
    }
  });
});

test("other servers' requests are approved, and denied with a tool error", async ({ browser, models }) => {
  const folder = await mkdtemp(join(tmpdir(), "beam-upstreams-"));
  const config = join(folder, "mcp.json");
  const everything = require.resolve("@modelcontextprotocol/server-everything/dist/index.js");
  await writeFile(config, JSON.stringify({ mcpServers: {
    test: { command: process.env.BEAM, args: ["test-server"] },
    everything: { command: process.execPath, args: [everything] },
  } }));
  const beam = await start("--models", models.models, "--mcp-config", config);
  const context = await browser.newContext({ baseURL: beam.url });
  const violations = watch(context, beam.url);
  const page = await context.newPage();
  const callTool = async (name, field, text) => {
    await untilOffered(beam, name);
    await page.goto(`/photons/${name}`);
    await page.locator(`[name="${field}"]`).fill(text);
    await page.getByRole("button", { name: "Run", exact: true }).click();
    await expect(button(page, "Approve")).toBeVisible();
  };
  try {
    await callTool("test__request_llm_help", "question", "Why ask?");
    await expect(dialog(page).locator(".facts-list")).toContainText("Server" + "test");
    await button(page, "Approve").click();
    const asked = await models.next();
    expect(asked.body).toMatchObject({ max_tokens: 500, messages: [{ role: "user", content: "Why ask?" }] });
    asked.reply("Because.");
    await expect(result(page)).toContainText("LLM Response: Because.");

    await callTool("test__request_llm_help", "question", "Why not?");
    await button(page, "Deny").click();
    await expect(result(page)).toContainText(/reject|declined/i);

    await callTool("everything__trigger-sampling-request", "prompt", "Say hello");
    await expect(dialog(page)).toContainText("You are a helpful test server.");
    await button(page, "Approve").click();
    (await models.next()).reply("Hello from the model.");
    await expect(result(page)).toContainText("Hello from the model.");

    await page.goto("/models");
    await expect(page.getByRole("row", { name: "test test__request_llm_help small 1 0 12 34" })).toBeVisible();
    expect(violations).toEqual([]);
  } finally {
    await context.close();
    await beam.stop();
    await rm(folder, { recursive: true });
  }
});

test("a client with a model is asked itself; for one without, a person approves", async ({ browser, beam, models }) => {
  const sent = models.requests.length;
  const connect = async (capabilities) => {
    const client = new Client({ name: "e2e", version: "1" }, { capabilities });
    if (capabilities.sampling) {
      client.setRequestHandler(CreateMessageRequestSchema, () => ({ role: "assistant", model: "client", content: { type: "text", text: "From the client." } }));
    }
    await client.connect(new StreamableHTTPClientTransport(new URL("/mcp", beam.url)));
    return client;
  };
  const tool = { name: "summarize", arguments: { text: "x" } };
  const withModel = await connect({ sampling: {} });
  expect(JSON.stringify(await withModel.callTool(tool))).toContain("From the client.");
  expect(models.requests.length).toBe(sent);
  await withModel.close();

  const without = await connect({});
  const first = await without.callTool(tool);
  const address = JSON.stringify(first).match(/http[^"\\ ]*\/asks\/[^"\\ ]*/)[0];
  const context = await browser.newContext();
  const violations = watch(context, beam.url);
  const page = await context.newPage();
  await page.goto(beam.signIn);
  await page.goto(address);
  await button(page, "Approve").click();
  (await models.next()).reply("Approved.");
  await expect(result(page)).toContainText("Approved.");
  const run = page.url().match(/runs\/(\w+)/)[1];
  expect(JSON.stringify(await without.callTool({ name: "beam_resume", arguments: { run } }))).toContain("Approved.");
  expect(violations).toEqual([]);
  await without.close();
  await context.close();
});
