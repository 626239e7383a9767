// Calls every tool of other people's servers directly, and through Beam: the results are
// the same, and so are the definitions but for their names.
import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { setTimeout as after } from "node:timers/promises";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";

import { serve } from "./beam.js";
import { prepare } from "./upstreams.js";

/** connect connects a client whose person accepts every form with the same content. */
async function connect(transport, version) {
  const options = version === "2026-07-28" ? { versionNegotiation: { mode: { pin: version } } } : { supportedProtocolVersions: [version] };
  const client = new Client({ name: "client-2", version: "1" }, { capabilities: { elicitation: { form: {}, url: {} }, sampling: {}, roots: {} }, ...options });
  client.setRequestHandler("elicitation/create", ({ params }) => ({ action: "accept", ...(params.mode === "url" ? {} : { content: { name: "Ada" } }) }));
  client.setRequestHandler("sampling/createMessage", () => ({ role: "assistant", model: "oracle", content: { type: "text", text: "Paris" } }));
  client.setRequestHandler("roots/list", () => ({ roots: [{ uri: "file:///srv/data", name: "data" }] }));
  await client.connect(transport);
  return client;
}

/** listTools waits until the client lists all tools: some servers add tools after a while. */
async function listTools(client, names) {
  for (const end = Date.now() + 100_000; ; ) {
    const { tools } = await client.listTools();
    const missing = names.filter((name) => !tools.some((t) => t.name === name));
    if (!missing.length) return tools;
    assert.ok(Date.now() < end, `${missing} are not listed`);
    await after(50);
  }
}

/** call returns a tool's result without what differs from call to call: times, and the version's own members. */
async function call(client, name, args) {
  const { content, structuredContent, isError = false } = await client.callTool({ name, arguments: args }).catch((err) => ({ content: String(err), isError: true }));
  const masked = JSON.stringify({ content, structuredContent, isError })
    .replace(/\d{1,2}:\d\d:\d\d [AP]M/g, "TIME")
    .replace(/(accessed|modified|created): [^\\]+/g, "$1: TIME")
    .replace(/session [\w-]+/g, "session ID");
  return JSON.parse(masked);
}

const shown = async ({ folder, servers }) => {
  const file = join(folder, "..", `${folder.split("/").at(-1)}.json`);
  await writeFile(file, JSON.stringify({ mcpServers: servers }));
  return file;
};

for (const version of ["2025-11-25", "2026-07-28"]) {
  test(`every tool, directly and through Beam, for a client of ${version}`, { timeout: 120_000 }, async (t) => {
    const direct = await prepare();
    const through = await prepare();
    t.after(() => Promise.all([direct.remove(), through.remove()]));
    const beam = await serve(["--ask-handoff", "0", "--mcp-config", await shown(through)]);
    t.after(beam.stop);
    const client = await connect(new StreamableHTTPClientTransport(beam.url), version);
    t.after(() => client.close());
    for (const name of Object.keys(direct.servers)) {
      await t.test(name, async (t) => {
        const own = await connect(new StdioClientTransport({ ...direct.servers[name], stderr: "ignore" }), "2025-11-25");
        t.after(() => own.close());
        const names = [...new Set(direct.calls[name].map(([tool]) => tool))];
        const ownTools = await listTools(own, names);
        assert.deepEqual(ownTools.map((tool) => tool.name).sort(), [...names].sort(), "the calls are not of all tools");
        const tools = await listTools(client, names.map((tool) => `${name}__${tool}`));
        for (const tool of ownTools) {
          const offered = tools.find((t) => t.name === `${name}__${tool.name}`);
          for (const member of ["description", "title", "inputSchema", "outputSchema", "annotations", "icons", "_meta"]) {
            assert.deepEqual(offered[member], tool[member], `${member} of ${tool.name}`);
          }
        }
        for (const [i, [tool, args]] of direct.calls[name].entries()) {
          const want = await call(own, tool, args);
          const [, throughArgs] = through.calls[name][i];
          const got = await call(client, `${name}__${tool}`, throughArgs);
          if (tool === "simulate-research-query") {
            assert.ok(got.content[0].text.startsWith("# Research Report: photons"), "Beam calls it as a task, as it requires");
            continue; // a client that doesn't gets an error
          }
          if (tool === "get-env") {
            assert.ok(got.content[0].text.includes('"PATH"'), "the server has an environment");
            continue; // it is not the same for every parent
          }
          const sameFolder = (v) => JSON.parse(JSON.stringify(v).replaceAll(direct.folder, "FOLDER").replaceAll(through.folder, "FOLDER"));
          assert.deepEqual(sameFolder(got), sameFolder(want), tool);
        }
      });
    }
  });
}
