import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

import { program, serve } from "./beam.js";

const inspector = fileURLToPath(new URL("node_modules/.bin/mcp-inspector", import.meta.url));

// inspect runs MCP Inspector's command line and returns what it prints.
async function inspect(...args) {
  const { stdout } = await promisify(execFile)(process.execPath, [inspector, "--cli", ...args], { timeout: 120_000 });
  return JSON.parse(stdout);
}

let host;
before(async () => (host = await serve()));
after(() => host.stop());

for (const transport of ["stdio", "http"]) {
  test(`MCP Inspector over ${transport}`, async () => {
    const target = transport === "http" ? [host.url.href, "--transport", "http"] : [program, "stdio", "--memory"];
    const { tools } = await inspect(...target, "--method", "tools/list", "--strict");
    assert.ok(tools.some((t) => t.name === "echo"));
    const r = await inspect(...target, "--method", "tools/call", "--tool-name", "progress", "--tool-arg", "count=3");
    assert.deepEqual(r.structuredContent, { result: "3 steps" });
  });
}
