// A chat that shows MCP Apps: a page on the extension's own app-bridge, which puts each
// view in two nested frames under the strictest content security policy of the
// specification, and the official TypeScript client as its connection to Beam.
import { createReadStream } from "node:fs";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { dirname, extname, join, normalize } from "node:path";
import { fileURLToPath } from "node:url";

const require = createRequire(new URL("../../interop/package.json", import.meta.url));
const { Client } = require("@modelcontextprotocol/sdk/client/index.js");
const { StreamableHTTPClientTransport } = require("@modelcontextprotocol/sdk/client/streamableHttp.js");
const { CallToolResultSchema } = require("@modelcontextprotocol/sdk/types.js");

const here = dirname(fileURLToPath(import.meta.url));
const modules = join(here, "../../interop/node_modules");
const types = { ".html": "text/html", ".js": "text/javascript", ".mjs": "text/javascript" };

/** appCapabilities are those of a client that shows apps and, like claude.ai, can't be asked. */
export const appCapabilities = { extensions: { "io.modelcontextprotocol/ui": { mimeTypes: ["text/html;profile=mcp-app"] } } };

/** connectHost connects a client to Beam. */
export async function connectHost(url, capabilities = appCapabilities) {
  const client = new Client({ name: "chat", title: "The chat", version: "1" }, { capabilities });
  await client.connect(new StreamableHTTPClientTransport(new URL("/mcp", url)));
  return client;
}

function serve() {
  const server = createServer((request, response) => {
    const path = normalize(decodeURIComponent(new URL(request.url, "http://x").pathname));
    const file = path.startsWith("/modules/") ? join(modules, path.slice("/modules".length)) : join(here, "app-host", path === "/" ? "host.html" : path);
    response.setHeader("Content-Type", types[extname(file)] ?? "application/octet-stream");
    createReadStream(file).on("error", () => response.writeHead(404).end()).pipe(response);
  });
  return new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(server)));
}

const origin = (server) => `http://127.0.0.1:${server.address().port}`;

/**
 * openHost opens a chat on a page.
 *
 * @param {import("@playwright/test").Page} page
 * @param {() => object} client returns the MCP client that calls of views use
 */
export async function openHost(page, client, { refuse = [], context } = {}) {
  const [host, sandbox] = [await serve(), await serve()];
  const tools = new Map();
  const latency = [];
  await page.exposeFunction("callTool", async (params) => {
    const begun = performance.now();
    const result = await client().request({ method: "tools/call", params }, CallToolResultSchema);
    latency.push({ name: params.name, ms: performance.now() - begun });
    return result;
  });
  const load = async () => {
    await page.goto(origin(host));
    await page.waitForFunction(() => window.ready);
  };
  await load();

  const tool = async (name) => {
    if (!tools.size) for (const t of (await client().listTools()).tools) tools.set(t.name, t);
    return tools.get(name);
  };
  /** view returns the frame of a mounted view. */
  const view = (n) => page.frameLocator(`iframe[name="view-${n}"]`).frameLocator("iframe");

  /** mount shows the view of a tool. */
  const mount = async (name, args) => {
    const t = await tool(name);
    const { contents } = await client().readResource({ uri: t._meta.ui.resourceUri });
    return page.evaluate((call) => window.mount(call), { html: contents[0].text, tool: t, args, context, sandbox: `${origin(sandbox)}/sandbox.html`, refuse });
  };
  const deliver = (n, result) => page.evaluate(([n, result]) => window.deliver(n, result), [n, result]);

  return {
    page, view, mount, deliver, latency, reload: load,
    recorded: (n) => page.evaluate((n) => window.recorded(n), n),
    /** call has the model call a tool, beside its view. */
    async call(name, args) {
      const n = await mount(name, args);
      const result = await client().request({ method: "tools/call", params: { name, arguments: args } }, CallToolResultSchema);
      await deliver(n, result);
      return { n, result, frame: view(n) };
    },
    async close() {
      for (const s of [host, sandbox]) {
        s.closeAllConnections();
        s.close();
      }
    },
  };
}
