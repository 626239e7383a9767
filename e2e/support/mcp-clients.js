// The official TypeScript MCP client, connected to the same Beam as the browser.
import { mkdtemp, rm } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";

import { start } from "./beam.js";

const require = createRequire(new URL("../../interop/package.json", import.meta.url));
const { Client } = require("@modelcontextprotocol/sdk/client/index.js");
const { StdioClientTransport } = require("@modelcontextprotocol/sdk/client/stdio.js");
const { StreamableHTTPClientTransport } = require("@modelcontextprotocol/sdk/client/streamableHttp.js");
const { ElicitRequestSchema } = require("@modelcontextprotocol/sdk/types.js");

/**
 * transports maps each transport to a function that connects a client to a new Beam.
 *
 * @returns {Promise<{client, signIn: Promise<string>, end: Function}>} the client, the
 *   single-use sign-in address once the pages are up, and a function that ends both
 */
export const transports = {
  async "over HTTP"(capabilities, elicit) {
    const beam = await start();
    const client = await connect(new StreamableHTTPClientTransport(new URL("/mcp", beam.url)), capabilities, elicit);
    const end = () => client.close().then(beam.stop);
    return { client, signIn: Promise.resolve(beam.signIn), end };
  },

  // The client's Beam joins the server that owns the data folder and serves the pages.
  async "over stdio, beside a server"(capabilities, elicit) {
    const folder = await mkdtemp(join(tmpdir(), "beam-e2e-"));
    const beam = await start("--data", folder);
    const transport = new StdioClientTransport({ command: process.env.BEAM, args: ["stdio", "--data", folder], stderr: "ignore" });
    const client = await connect(transport, capabilities, elicit);
    const end = async () => {
      await client.close();
      await beam.stop();
      await rm(folder, { recursive: true });
    };
    return { client, signIn: Promise.resolve(beam.signIn), end };
  },

  // The pages start with the first question that needs one.
  async "over stdio"(capabilities, elicit) {
    const transport = new StdioClientTransport({ command: process.env.BEAM, args: ["stdio", "--memory"], stderr: "pipe" });
    const signIn = new Promise((resolve) => {
      createInterface({ input: transport.stderr }).on("line", (line) => {
        const address = line.match(/https?:\/\/\S+\/login\?\S+/);
        if (address) resolve(address[0]);
      });
    });
    const client = await connect(transport, capabilities, (request, extra) =>
      request.params.mode === "url" ? { action: "decline" } : elicit(request, extra),
    );
    if (capabilities.elicitation) await callTool(client, { ask: "secret" });
    return { client, signIn, end: () => client.close() };
  },
};

/** connectAs connects a client that can be asked, with somebody's token. */
export const connectAs = (url, token, elicit) =>
  connect(
    new StreamableHTTPClientTransport(new URL("/mcp", url), { requestInit: { headers: { Authorization: `Bearer ${token}` } } }),
    { elicitation: {} },
    elicit,
  );

/** connectTo connects a client that can be asked, as whoever is at this machine. */
export const connectTo = (url, elicit) => connect(new StreamableHTTPClientTransport(new URL("/mcp", url)), { elicitation: {} }, elicit);

async function connect(transport, capabilities, elicit) {
  const client = new Client({ name: "e2e", version: "1" }, { capabilities });
  if (capabilities.elicitation) client.setRequestHandler(ElicitRequestSchema, elicit);
  await client.connect(transport);
  return client;
}

/** callTool calls the photon kitchen_sink. */
export const callTool = (client, args) => client.callTool({ name: "kitchen_sink", arguments: args });
