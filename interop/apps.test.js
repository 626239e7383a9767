// Clients that declare MCP Apps and no elicitation, as claude.ai does: they are asked in
// the chat. Their views may call Beam in another session and, over stdio, in another
// process than the model does.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";

import { serveFolder } from "./beam.js";
import { connect, kinds } from "./clients.js";

const capabilities = { extensions: { "io.modelcontextprotocol/ui": { mimeTypes: ["text/html;profile=mcp-app"] } } };

let host;
before(async () => (host = await serveFolder()));
after(() => host.stop());

for (const transport of ["stdio", "http"]) {
  for (const kind of kinds) {
    test(`${kind.name}, ${kind.version}, ${transport}`, { timeout: 120_000 }, async (t) => {
      const open = async () => {
        const one = await connect(kind, host.to(transport), { capabilities });
        t.after(() => one.close());
        return one;
      };
      const [model, view] = [await open(), await open()];
      const { tools } = await model.client.listTools();
      const address = tools.find((tool) => tool.name === "text")._meta.ui.resourceUri;
      const { contents } = await view.client.readResource({ uri: address });
      assert.equal(contents[0].mimeType, "text/html;profile=mcp-app");
      await view.client.listTools();

      const asked = await model.call("text");
      assert.ok(!asked.isError);
      const run = asked.structuredContent.beam_run;
      assert.match(asked.content[0].text, new RegExp(`beam_resume with {"run": "${run}"}`));
      const { questions } = (await view.call("beam_app_read", { run })).structuredContent;
      const act = (args) => view.call("beam_app_act", { run, ask: questions[0].id, ...args });
      assert.match((await act({ action: "accept", values: {} })).structuredContent.invalid.html, /class="error"/);
      assert.deepEqual((await act({ action: "accept", values: { text: ["Ada"] } })).structuredContent, {});
      assert.deepEqual((await model.call("beam_resume", { run })).structuredContent, { outcome: "accepted", value: "Ada" });
    });
  }
}

describe("a client over stdio of a program that keeps its runs in memory", () => {
  test("isn't asked in the chat, and gets a link", { timeout: 120_000 }, async (t) => {
    const beam = await connect(kinds[0], undefined, { capabilities }, []);
    t.after(() => beam.close());
    const log = new Promise((resolve) => {
      let text = "";
      beam.stderr.on("data", (chunk) => (text += chunk).includes("use a data folder instead of --memory") && resolve());
    });
    const { tools } = await beam.client.listTools();
    assert.ok(tools.every((tool) => !tool._meta?.ui));
    assert.match((await beam.call("text")).content[0].text, /Answer at: http/);
    await log;
  });
});
