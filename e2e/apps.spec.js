// Runs and their questions in a chat that shows MCP Apps: a host page on the extension's
// app-bridge, with the real binary behind it.
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { connectHost, openHost } from "./support/app-host.js";
import { askInChat, expect, press, question, test, untilOffered } from "./support/apps-fixtures.js";
import { expectAccessible } from "./support/axe.js";
import { start } from "./support/beam.js";
import { kinds } from "./support/question-kinds.js";
import { field, fillField } from "./support/run-page.js";

/** onPage are the kinds that are answered on Beam's page; evidence can't be undone. */
const onPage = ["secret", "file", "evidence"];

const resume = (client, run) => client.callTool({ name: "beam_resume", arguments: { run } });
const submit = (kind) => kinds[kind].submit ?? "Submit";

async function fill(scope, values) {
  for (const [name, value] of Object.entries(values)) await fillField(scope, name, value);
}

test("a question is asked and answered in the chat, and the model is told of the end once", async ({ host, client }) => {
  const { frame, n, run, result } = await askInChat(host, "text");
  expect(result.content[0].text).toContain(`call the tool beam_resume with {"run": "${run}"}`);
  expect(result.structuredContent.questions[0].question).toBe("What is the project called?");
  await expect(frame.locator("#state")).toHaveText("waiting for an answer");
  await fillField(question(frame), "text", "Ada");
  await press(question(frame), "Submit");
  await expect(frame.locator("#state")).toHaveText("completed");
  await expect(frame.getByText("answered through The chat’s app, person not verified")).toBeVisible();

  await expect.poll(async () => (await host.recorded(n)).messages).toHaveLength(1);
  await expect.poll(async () => (await host.recorded(n)).contexts).toHaveLength(1);
  const { contexts, messages, told } = await host.recorded(n);
  expect(told).toEqual(["context", "message"]); // in this order
  expect(contexts[0].content[0].text).toContain("This is the tool's output, not a request of the user");
  expect(messages[0]).toEqual({ role: "user", content: [{ type: "text", text: `The run ${run} has ended. Call beam_resume with {"run": "${run}"} for its result.` }] });
  const { structuredContent } = await resume(client, run);
  expect(structuredContent).toMatchObject({ action: "accept", answer: "Ada" });
});

for (const kind of Object.keys(kinds)) {
  if (onPage.includes(kind)) continue;
  const tag = ["select", "confirm"].includes(kind) ? [] : "@long";
  test(`${kind}: errors are mended, and the answer is recorded`, { tag }, async ({ host, client }) => {
    const { frame, run } = await askInChat(host, kind);
    for (const { values, text } of kinds[kind].wrong) {
      await fill(question(frame), values);
      await press(question(frame), submit(kind));
      await expect(question(frame).locator(".field .error").filter({ hasText: text }).first()).toBeVisible();
    }
    await fill(question(frame), { ...(kind === "form" && { website: "" }), ...kinds[kind].values });
    await press(question(frame), submit(kind));
    await expect(frame.locator("#state")).toHaveText("completed");
    expect((await resume(client, run)).structuredContent).toMatchObject({ action: "accept", answer: kinds[kind].answer });
  });
}

for (const kind of Object.keys(kinds)) {
  if (kind === "evidence") continue;
  test(`${kind}: it is declined, and canceled`, { tag: kind === "secret" ? [] : "@long" }, async ({ host, client }) => {
    for (const [button, action] of [["Decline", "decline"], ["Dismiss", "cancel"]]) {
      const { frame, run } = await askInChat(host, kind);
      await press(question(frame), button);
      await expect(frame.locator("#state")).toHaveText("completed");
      expect((await resume(client, run)).structuredContent.action).toBe(action);
    }
  });
}

test("passwords, files and what can't be undone are for Beam's page, which is opened", async ({ host, beam, context }) => {
  const page = await context.newPage();
  await page.goto(beam.signIn);
  for (const kind of onPage) {
    const { frame, n } = await askInChat(host, kind);
    await expect(question(frame).locator("input")).toHaveCount(0);
    await question(frame).getByRole("link", { name: "Open in Beam" }).click();
    await expect.poll(async () => (await host.recorded(n)).opened).toHaveLength(1);
    const [address] = (await host.recorded(n)).opened;
    expect(address).toMatch(new RegExp(`^${beam.url}/asks/`));
    await page.goto(address);
    await fill(page.getByRole("dialog"), kinds[kind].values);
    await press(page.getByRole("dialog"), submit(kind));
    await expect(frame.locator("#state")).toHaveText("completed");
    await expect(frame.getByRole("button", { name: "Continue in chat" })).toBeVisible(); // nobody has answered here
    expect((await host.recorded(n)).messages).toEqual([]);
  }
});

test("two runs at once keep apart, and a view that isn't seen reads nothing", async ({ host, client }) => {
  const first = await askInChat(host, "text");
  const second = await askInChat(host, "select");
  const unseen = await host.mount("kitchen_sink", {});
  const setHidden = (hidden) => host.view(unseen).locator("body").evaluate((body, hidden) => {
    Object.defineProperty(document, "hidden", { value: hidden, configurable: true });
    document.dispatchEvent(new Event("visibilitychange"));
  }, hidden);
  await setHidden(true);
  await host.deliver(unseen, first.result);
  await fillField(question(second.frame), "select", "staging");
  await press(question(second.frame), "Submit");
  await expect(second.frame.locator("#state")).toHaveText("completed");
  await fillField(question(first.frame), "text", "Ada");
  await press(question(first.frame), "Submit");
  await expect(first.frame.locator("#state")).toHaveText("completed");
  expect((await resume(client, first.run)).structuredContent.answer).toBe("Ada");
  expect((await resume(client, second.run)).structuredContent.answer).toBe("staging");
  expect((await host.recorded(unseen)).calls).toEqual([]);
  await setHidden(false);
  await expect(host.view(unseen).locator("#state")).toHaveText("completed");
});

/**
 * answeredInTheInbox expects a view to notice that its question was answered elsewhere
 * first, and two views to tell the model once.
 */
async function answeredInTheInbox(host, client, beam, context) {
  const { frame, n, run, result } = await askInChat(host, "text");
  await fillField(question(frame), "text", "Too late");
  const inbox = await context.newPage();
  await inbox.goto(beam.signIn);
  await inbox.goto(`${beam.url}/runs/${run}`);
  await fillField(inbox.getByRole("dialog"), "text", "From the inbox");
  await press(inbox.getByRole("dialog"), "Submit");
  await host.page.bringToFront();
  await expect(frame.locator("#state")).toHaveText("completed");
  await expect(question(frame)).toHaveCount(0);
  const again = await host.mount("kitchen_sink", { ask: "text" });
  await host.deliver(again, result);
  await expect(host.view(again).getByRole("button", { name: "Continue in chat" })).toBeVisible();
  expect((await host.recorded(n)).messages).toEqual([]);
  await press(frame.locator("main"), "Continue in chat");
  await expect.poll(async () => (await host.recorded(n)).messages).toHaveLength(1);
  await press(host.view(again).locator("main"), "Continue in chat");
  await expect(host.view(again).getByText("The chat was told already.")).toBeVisible();
  expect((await host.recorded(again)).messages).toEqual([]);
  expect((await resume(client, run)).structuredContent.answer).toBe("From the inbox");
}

test("a question survives a restart of Beam, and the chat's reload shows the run and tells nothing again", async ({ page, context }) => {
  const folder = await mkdtemp(join(tmpdir(), "beam-e2e-"));
  let beam = await start("--data", folder);
  let client = await connectHost(beam.url);
  const host = await openHost(page, () => client);
  try {
    const { frame, n, run, result } = await askInChat(host, "text");
    await client.close();
    await beam.stop();
    beam = await start("--data", folder);
    client = await connectHost(beam.url);
    await fillField(question(frame), "text", "Ada");
    await press(question(frame), "Submit");
    await expect(frame.locator("#state")).toHaveText("completed");
    await expect.poll(async () => (await host.recorded(n)).messages).toHaveLength(1);
    await answeredInTheInbox(host, client, beam, context);

    await host.reload();
    const again = await host.mount("kitchen_sink", { ask: "text" });
    await host.deliver(again, result); // the old one
    await expect(host.view(again).locator("#state")).toHaveText("completed");
    await expect.poll(async () => (await host.recorded(again)).calls.length).toBeGreaterThan(0);
    await expect(host.view(again).getByRole("button")).toHaveCount(0);
    expect(await host.recorded(again)).toMatchObject({ messages: [], contexts: [] });
    expect((await resume(client, run)).structuredContent.answer).toBe("Ada");
  } finally {
    await host.close();
    await client.close();
    await beam.stop();
    await rm(folder, { recursive: true });
  }
});

test("what other servers ask: for folders, a person, a model, and until an address was opened", async ({ page }) => {
  const folder = await mkdtemp(join(tmpdir(), "beam-e2e-"));
  const config = join(folder, "mcp.json");
  await writeFile(config, JSON.stringify({ mcpServers: { test: { command: process.env.BEAM, args: ["test-server", "--protocol", "2025-11-25"] } } }));
  const beam = await start("--mcp-config", config);
  await untilOffered(beam, "test__ask_everybody");
  const client = await connectHost(beam.url);
  const host = await openHost(page, () => client);
  try {
    const all = await host.call("test__ask_everybody", {});
    await expect(question(all.frame)).toHaveCount(3);
    const [person, model, folders] = ["Who are you?", "Request to a model", "folders"].map((hasText) => question(all.frame).filter({ hasText }));
    await fillField(folders, "roots", "no path");
    await press(folders, "Submit");
    await expect(folders.locator(".field .error")).toContainText("must be an absolute path");
    await fillField(folders, "roots", "/srv/data");
    await press(folders, "Submit");
    await expect(folders).toHaveCount(0);
    await fillField(person, "name", "Ada");
    await press(person, "Submit");
    await expect(person).toHaveCount(0);
    await expect(model.locator("input, textarea")).toHaveCount(0);
    await press(model, "Decline");
    await expect(question(all.frame)).toHaveCount(0);
    const ended = await resume(client, all.result.structuredContent.beam_run);
    expect(ended.content.at(-1).text).toContain("User rejected sampling request"); // as the tool says

    const { frame, result } = await host.call("test__require_url", { after: 3_600_000 });
    await expect(question(frame)).toContainText("Open the address on Beam’s page, and say there when you are done.");
    await expect(question(frame).getByRole("link", { name: "Open in Beam" })).toBeVisible();
    await press(question(frame), "Dismiss");
    await expect(question(frame)).toHaveCount(0);
    const cancelled = await resume(client, result.structuredContent.beam_run);
    expect(cancelled.content.at(-1).text).toContain('The user dismissed "Please authorize the test server." without an answer.');
  } finally {
    await host.close();
    await client.close();
    await beam.stop();
    await rm(folder, { recursive: true });
  }
});

test.describe("a host that drops", () => {
  const finishText = async (frame) => {
    await fillField(question(frame), "text", "Ada");
    await press(question(frame), "Submit");
    await expect(frame.locator("#state")).toHaveText("completed");
  };
  const expectDone = async (client, run) => expect((await resume(client, run)).structuredContent.answer).toBe("Ada");

  test("the view: the model has the question and the address", async ({ client, beam }) => {
    const result = await client.callTool({ name: "kitchen_sink", arguments: { ask: "text" } });
    const { beam_run: run, inbox, questions } = result.structuredContent;
    expect(result.content[0].text).toContain(questions[0].address);
    expect(inbox).toBe(`${beam.url}/asks`);
    const read = await client.callTool({ name: "beam_app_read", arguments: { run } });
    await client.callTool({ name: "beam_app_act", arguments: { run, ask: read.structuredContent.questions[0].id, action: "accept", values: { text: ["Ada"] } } });
    await expectDone(client, run);
  });

  for (const [what, change] of Object.entries({
    "_meta": ({ _meta, ...result }) => result,
    "structured content": ({ structuredContent, ...result }) => result,
    "text": ({ structuredContent, isError }) => ({ content: [], structuredContent, isError }),
  })) {
    test(`${what} of the result: the view finds its run`, async ({ host, client }) => {
      const n = await host.mount("kitchen_sink", { ask: "text" });
      const result = await client.callTool({ name: "kitchen_sink", arguments: { ask: "text" } });
      await host.deliver(n, change(result));
      await finishText(host.view(n));
      await expectDone(client, result.structuredContent.beam_run);
    });
  }

  test("all of the result: the view links to the inbox, and guesses nothing but what ChatGPT keeps", async ({ host, client, beam }) => {
    const { structuredContent } = await client.callTool({ name: "kitchen_sink", arguments: { ask: "text" } });
    const n = await host.mount("kitchen_sink", { ask: "text" });
    await host.deliver(n, { content: [] });
    await host.view(n).getByRole("link", { name: "Open in Beam" }).click();
    await expect.poll(async () => (await host.recorded(n)).opened).toEqual([`${beam.url}/asks`]);
    await expect(question(host.view(n))).toHaveCount(0);
    let openai = { toolOutput: structuredContent };
    for (let load = 0; load < 2; load++) { // the second time, ChatGPT has the widget's state alone
      const kept = await host.mount("kitchen_sink", { ask: "text" });
      await host.view(kept).locator("body").evaluate((body, openai) => {
        window.openai = { ...openai, setWidgetState: (state) => (window.state = state) };
      }, openai);
      await host.deliver(kept, { content: [] });
      await expect(question(host.view(kept))).toBeVisible();
      openai = { widgetState: await host.view(kept).locator("body").evaluate(() => window.state) };
    }
  });

  for (const how of ["message", "throw-message"]) {
    test.describe(() => {
      test.use({ hostOptions: { refuse: [how] } });
      test(`the message (${how}): a button and a text remain`, { tag: how === "message" ? [] : "@long" }, async ({ host, client }) => {
        const { frame, n, run } = await askInChat(host, "text");
        await finishText(frame);
        await press(frame.locator("main"), "Continue in chat");
        await expect(frame.getByText("The chat did not take the message. Copy it:")).toBeVisible();
        await expect(frame.getByText(`Call beam_resume with {"run": "${run}"} for its result.`)).toBeVisible();
        await expect.poll(async () => (await host.recorded(n)).contexts).toHaveLength(1);
        await expectDone(client, run);
      });
    });
  }

  test.describe(() => {
    test.use({ hostOptions: { refuse: ["context", "structured"] } });
    test("the context, and structured content of the view's calls: the message comes", async ({ host, client }) => {
      const { frame, n, run } = await askInChat(host, "text");
      await finishText(frame);
      await expect.poll(async () => (await host.recorded(n)).messages).toHaveLength(1);
      await expectDone(client, run);
    });
  });

  test.describe(() => {
    test.use({ hostOptions: { refuse: ["open"] } });
    test("links: the address is shown, and stays", async ({ host, beam }) => {
      const { frame, n } = await askInChat(host, "secret");
      await question(frame).getByRole("link", { name: "Open in Beam" }).click();
      await expect(frame.getByText(`Open this address: ${beam.url}/asks/`)).toBeVisible();
      const reads = async () => (await host.recorded(n)).calls.filter((name) => name === "beam_app_read").length;
      const before = await reads();
      await expect.poll(reads).toBeGreaterThan(before);
      await expect(frame.getByText(`Open this address: ${beam.url}/asks/`)).toBeVisible();
    });
  });

  test.describe(() => {
    test.use({ hostOptions: { refuse: ["act"] } });
    test("calls that change something: the view says so, and links to Beam's page", async ({ host }) => {
      const { frame, n } = await askInChat(host, "text");
      await fillField(question(frame), "text", "Ada");
      await press(question(frame), "Submit");
      await expect(frame.getByRole("alert")).toContainText("this host allows only reading");
      await expect(question(frame).locator("input")).toHaveValue("Ada"); // to try again
      await frame.getByRole("link", { name: "Open in Beam" }).first().click();
      await expect.poll(async () => (await host.recorded(n)).opened).toHaveLength(1);
    });
  });
});

test.describe("what is hostile", () => {
  // Its policy is also stricter than the specification's: no pictures, as Inspector's.
  test.use({ hostOptions: { refuse: ["tamper", "pictures"] }, tolerated: [/^console: Loading the image 'data:image/] });
  test("runs nothing: script in texts, markup of a host, messages of other windows", async ({ host, page }) => {
    const script = `</script><img src=x onerror="document.title='text'"><script>document.title='text'</script>`;
    const n = await host.mount("kitchen_sink", {});
    const { frame } = await host.call("kitchen_sink", { ask: "text", echo: { text: script } });
    await expect(question(frame)).toBeVisible();
    await expect(frame.getByRole("img", { name: "A picture" }).and(frame.locator("canvas"))).toBeVisible();
    await expect(question(frame).getByText("The picture “Drawing” can’t be shown here.")).toBeVisible();
    await fillField(question(frame), "text", script.slice(0, 38));
    await press(question(frame), "Submit");
    await expect(frame.locator("#state")).toHaveText("completed");
    await expect(frame.getByText("onerror").first()).toBeVisible(); // as text
    const inner = page.frames().filter((f) => f.url() === "about:srcdoc");
    expect(inner).toHaveLength(2);
    for (const f of inner) {
      expect(await f.title()).toBe("Beam");
      expect(await f.locator("iframe, form, script:not(body > script), [onerror], [onload], a[href^=javascript]").count()).toBe(0);
    }
    // A message that claims to come from the host, but comes from the frame's own window.
    const idle = inner[0];
    await idle.evaluate(() => window.postMessage({ jsonrpc: "2.0", method: "ui/notifications/tool-result", params: { structuredContent: { beam_run: "0".repeat(32) } } }, "*"));
    await idle.evaluate(() => new Promise((resolve) => setTimeout(resolve)));
    expect((await host.recorded(n)).calls).toEqual([]);
    // A run of somebody else, or none.
    await host.deliver(n, { structuredContent: { beam_run: "0".repeat(32) } });
    await expect(host.view(n).getByText("no run has this handle")).toBeVisible();
    await expect(host.view(n).getByRole("link", { name: "Open in Beam" })).toBeVisible();
  });
});

test("the view is accessible, narrow, and works by keyboard", async ({ host, page, client }) => {
  await page.setViewportSize({ width: 340, height: 800 });
  const { frame, n, run } = await askInChat(host, "form");
  const inner = page.frames().find((f) => f.url() === "about:srcdoc");
  await expect.poll(() => inner.evaluate(() => document.documentElement.clientWidth)).toBeLessThanOrEqual(324);
  await expect.poll(() => inner.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth)).toBe(0);
  await expectAccessible({ evaluate: inner.evaluate.bind(inner), emulateMedia: page.emulateMedia.bind(page) });
  await press(question(frame), "Submit");
  await expect(frame.locator(".summary")).toBeFocused();
  await expectAccessible({ evaluate: inner.evaluate.bind(inner), emulateMedia: page.emulateMedia.bind(page) });
  await field(question(frame), "name").focus();
  await page.keyboard.type("Ada Lovelace");
  await page.keyboard.press("Tab");
  await page.keyboard.type("ada@example.org");
  await page.keyboard.press("Enter");
  await expect(frame.locator("#state")).toHaveText("completed");
  await expectAccessible({ evaluate: inner.evaluate.bind(inner), emulateMedia: page.emulateMedia.bind(page) });
  expect((await resume(client, run)).structuredContent.answer).toMatchObject({ name: "Ada Lovelace", email: "ada@example.org" });
  await expect.poll(async () => (await host.recorded(n)).sizes.length).toBeGreaterThan(1);
});

test("a run is stopped in the chat", async ({ host, client }) => {
  const { frame, run } = await askInChat(host, "text");
  await press(frame.locator("main"), "Stop");
  await expect(frame.locator("#state")).toHaveText("stopped");
  await expect(frame.getByRole("button", { name: "Stop" })).toHaveCount(0);
  expect((await resume(client, run)).content.at(-1).text).toContain("The user stopped the run through The chat's app.");
});

test("a call with nothing to show has a view of one line", async ({ host }) => {
  const n = await host.mount("kitchen_sink", {});
  await host.deliver(n, { content: [{ type: "text", text: "done" }] });
  await expect(host.view(n).locator("#state")).toHaveText("has finished");
  await expect.poll(async () => (await host.recorded(n)).sizes.at(-1)).toBeLessThan(48);
});

