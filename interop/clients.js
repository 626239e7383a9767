// The official TypeScript clients behind one interface.
import { Client as Client2, StreamableHTTPClientTransport as HTTP2 } from "@modelcontextprotocol/client";
import { StdioClientTransport as Stdio2 } from "@modelcontextprotocol/client/stdio";
import { Client as Client1 } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport as Stdio1 } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport as HTTP1 } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import * as types from "@modelcontextprotocol/sdk/types.js";

import { program, refusing } from "./beam.js";

const everything = { elicitation: { form: {}, url: {} }, sampling: {}, roots: {} };

/** kinds are the clients, each with every version that it supports. */
export const kinds = [
  { name: "sdk 1", version: "2025-11-25", make: sdk1 },
  { name: "client 2", version: "2025-06-18", make: sdk2 },
  { name: "client 2", version: "2025-11-25", make: sdk2 },
  { name: "client 2", version: "2026-07-28", make: sdk2 },
];

/**
 * connect connects a client to a server, or over stdio to a program that it starts.
 *
 * @param {object} kind one of kinds
 * @param {{url: URL} | {command: string, args: string[]}} [host] the server, or a command to start
 * @param {{elicit: Function, capabilities?: object}} person answers the questions
 * @param {string[]} [flags] the flags of the program that it starts
 */
export async function connect(kind, host, person, flags = refusing) {
  const capabilities = person.capabilities ?? everything;
  const { client, transport, call } = kind.make(kind.version, host ?? flags, capabilities, {
    "elicitation/create": (r, extra) => person.elicit(r.params, extra),
    "sampling/createMessage": () => ({ role: "assistant", model: "oracle", content: { type: "text", text: "Paris" } }),
    "roots/list": () => ({ roots: [{ uri: "file:///srv/data", name: "data" }] }),
  });
  await client.connect(transport);
  // The clients drop a call's progress handler with its response, before they pass
  // it progress that arrived just before. So record every message here.
  const came = [];
  const onmessage = transport.onmessage;
  transport.onmessage = (message, extra) => {
    came.push(message);
    onmessage(message, extra);
  };
  return { client, call, came, stderr: transport.stderr, close: () => client.close() };
}

// transportTo returns a transport over HTTP to a host, or over stdio to a program
// with flags, or to a command.
const transportTo = (to, HTTP, Stdio) =>
  to.command ? new Stdio({ ...to, stderr: "pipe" }) : Array.isArray(to) ? new Stdio({ command: program, args: ["stdio", "--memory", ...to], stderr: "pipe" }) : new HTTP(to.url);
const capabilityOf = { "elicitation/create": "elicitation", "sampling/createMessage": "sampling", "roots/list": "roots" };

function sdk1(_version, to, capabilities, handlers) {
  const client = new Client1({ name: "sdk-1", version: "1" }, { capabilities });
  const schemas = {
    "elicitation/create": types.ElicitRequestSchema,
    "sampling/createMessage": types.CreateMessageRequestSchema,
    "roots/list": types.ListRootsRequestSchema,
  };
  for (const [method, handle] of Object.entries(handlers)) {
    if (capabilities[capabilityOf[method]]) client.setRequestHandler(schemas[method], handle);
  }
  const transport = transportTo(to, HTTP1, Stdio1);
  const call = (name, args = {}, options) => client.callTool({ name, arguments: args }, undefined, options);
  return { client, transport, call };
}

function sdk2(version, to, capabilities, handlers) {
  const modern = version === "2026-07-28";
  const client = new Client2(
    { name: "client-2", version: "1" },
    { capabilities, ...(modern ? { versionNegotiation: { mode: { pin: version } } } : { supportedProtocolVersions: [version] }) },
  );
  for (const [method, handle] of Object.entries(handlers)) {
    if (capabilities[capabilityOf[method]]) client.setRequestHandler(method, handle);
  }
  const transport = transportTo(to, HTTP2, Stdio2);
  const call = (name, args = {}, options) => client.callTool({ name, arguments: args }, options);
  return { client, transport, call };
}
