// Runs and their questions in a chat that shows MCP Apps: a host page on the extension's
// app-bridge, with the real binary behind it.
import { test as base, expect } from "./support/fixtures.js";
import { connectHost, openHost } from "./support/app-host.js";
import { kinds } from "./support/question-kinds.js";
import { field, fillField } from "./support/run-page.js";

/** onPage are the kinds that are answered on Beam's page. */
const onPage = ["secret", "file"];

const test = base.extend({
  client: async ({ beam }, use) => {
    const client = await connectHost(beam.url);
    await use(client);
    await client.close();
  },
  hostOptions: [{}, { option: true }],
  host: async ({ page, client, hostOptions }, use) => {
    const host = await openHost(page, () => client, hostOptions);
    await use(host);
    await host.close();
  },
});

const question = (frame) => frame.locator("[data-ask]");
const press = (scope, name) => scope.getByRole("button", { name, exact: true }).click();
const resume = (client, run) => client.callTool({ name: "beam_resume", arguments: { run } });
const submit = (kind) => kinds[kind].submit ?? "Submit";

/** askInChat has the model call kitchen_sink, and returns its view with the open question. */
async function askInChat(host, kind) {
  const call = await host.call("kitchen_sink", { ask: kind });
  expect(call.result.isError).toBeFalsy();
  await expect(question(call.frame).first()).toBeVisible();
  return { ...call, run: call.result.structuredContent.beam_run };
}

async function fill(scope, values) {
  for (const [name, value] of Object.entries(values)) await fillField(scope, name, value);
}

test("a question is asked and answered in the chat, and the model is told of the end once", async ({ host, client }) => {
  const { frame, n, run, result } = await askInChat(host, "text");
  expect(result.content[0].text).toContain(`call the tool beam_resume with {"run": "${run}"}`);
  expect(result.structuredContent.questions[0].question).toBe("What is your project called?");
  await expect(frame.locator("#state")).toHaveText("waiting for an answer");
  await fillField(question(frame), "text", "Ada");
  await press(question(frame), "Submit");
  await expect(frame.locator("#state")).toHaveText("completed");
  await expect(frame.getByText("answered through The chat’s app, person not verified")).toBeVisible();

  await expect.poll(async () => (await host.recorded(n)).messages).toHaveLength(1);
  const { contexts, messages } = await host.recorded(n);
  expect(contexts).toHaveLength(1);
  expect(contexts[0].content[0].text).toContain("This is the tool's output, not a request of the user");
  expect(messages[0]).toEqual({ role: "user", content: [{ type: "text", text: `The run ${run} has ended. Call beam_resume with {"run": "${run}"} for its result.` }] });
  const { structuredContent } = await resume(client, run);
  expect(structuredContent).toMatchObject({ action: "accept", answer: "Ada" });
});

for (const kind of Object.keys(kinds)) {
  if (onPage.includes(kind)) continue;
  test(`${kind}: errors are mended, and the answer is recorded`, async ({ host, client }) => {
    const { frame, run } = await askInChat(host, kind);
    for (const { values, text } of kinds[kind].wrong) {
      await fill(question(frame), values);
      await press(question(frame), submit(kind));
      await expect(question(frame).locator(".field .error").filter({ hasText: text }).first()).toBeVisible();
    }
    await fill(question(frame), kinds[kind].values);
    await press(question(frame), submit(kind));
    await expect(frame.locator("#state")).toHaveText("completed");
    expect((await resume(client, run)).structuredContent).toMatchObject({ action: "accept", answer: kinds[kind].answer });
  });
}

for (const kind of Object.keys(kinds)) {
  test(`${kind}: it is declined, and canceled`, async ({ host, client }) => {
    for (const [button, action] of [["Decline", "decline"], ["Cancel", "cancel"]]) {
      const { frame, run } = await askInChat(host, kind);
      await press(question(frame), button);
      await expect(frame.locator("#state")).toHaveText("completed");
      expect((await resume(client, run)).structuredContent.action).toBe(action);
    }
  });
}

for (const kind of onPage) {
  test(`${kind}: Beam's page is opened for it`, async ({ host, beam, context }) => {
    const { frame, n } = await askInChat(host, kind);
    await expect(question(frame).locator("input")).toHaveCount(0);
    await question(frame).getByRole("link", { name: "Open in Beam" }).click();
    await expect.poll(async () => (await host.recorded(n)).opened).toHaveLength(1);
    const [address] = (await host.recorded(n)).opened;
    expect(address).toMatch(new RegExp(`^${beam.url}/asks/`));
    const page = await context.newPage();
    await page.goto(beam.signIn).catch(() => {});
    await page.goto(address);
    await fillField(page.getByRole("dialog"), kind, kinds[kind].values[kind]);
    await press(page.getByRole("dialog"), "Submit");
    await expect(frame.locator("#state")).toHaveText("completed");
    await expect(frame.getByRole("button", { name: "Continue in chat" })).toBeVisible(); // nobody has clicked here
  });
}
