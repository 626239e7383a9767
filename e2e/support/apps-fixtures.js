// The fixtures of tests of the chat: an MCP client that shows apps, and a chat.
import { test as base, expect, untilOffered } from "./fixtures.js";
import { connectHost, openHost } from "./app-host.js";

export { expect, untilOffered };

export const test = base.extend({
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

/** question returns the open questions of a view. */
export const question = (frame) => frame.locator("[data-ask]");

/** press presses a button. */
export const press = (scope, name) => scope.getByRole("button", { name, exact: true }).click();

/** askInChat has the model call kitchen_sink, and returns its view with the open question. */
export async function askInChat(host, kind) {
  const call = await host.call("kitchen_sink", { ask: kind });
  expect(call.result.isError).toBeFalsy();
  await expect(question(call.frame).first()).toBeVisible();
  return { ...call, run: call.result.structuredContent.beam_run };
}
