// An MCP server over stdio with a tool whose schema has what forms are made of, and which
// returns its arguments. An argument of the program is how many further tools it has.
import { createInterface } from "node:readline";

const text = (title, more) => ({ type: "string", title, ...more });
const server = {
  type: "object",
  required: ["host"],
  properties: {
    host: text("Host", { minLength: 1 }),
    port: { type: "integer", title: "Port", minimum: 1, maximum: 65535 },
    tags: { type: "array", title: "Tags", items: { type: "string" } },
  },
};
const inputSchema = {
  type: "object",
  required: ["title", "contact", "servers"],
  properties: {
    title: text("Title", { description: "What the deployment is called", minLength: 2 }),
    contact: { type: "object", title: "Contact", required: ["email"], properties: { email: text("Email", { format: "email" }), phone: text("Phone") } },
    servers: { type: "array", title: "Servers", minItems: 1, items: server },
    source: {
      title: "Source",
      properties: { note: text("Note") },
      oneOf: [
        { title: "Git", type: "object", required: ["kind", "url"], properties: { kind: { const: "git" }, url: text("Address", { format: "uri" }), ref: text("Branch", { default: "main" }) } },
        { title: "Archive", type: "object", required: ["kind", "data"], properties: { kind: { const: "archive" }, data: text("Data", { contentEncoding: "base64" }) } },
      ],
    },
    day: text("Day", { format: "date" }),
    labels: { type: "object", title: "Labels", additionalProperties: { type: "string" } },
    limits: { type: "object", title: "Limits", properties: { cpu: { type: "number", title: "CPUs", exclusiveMinimum: 0 } } },
    urgent: { type: "boolean", title: "Urgent" },
    group: { $ref: "#/$defs/group" },
  },
  if: { required: ["urgent"], properties: { urgent: { const: true } } },
  then: { required: ["reason"], properties: { reason: text("Reason") } },
  $defs: { group: { type: "object", title: "Group", properties: { name: text("Name"), parent: { $ref: "#/$defs/group", title: "Parent" } } } },
};

const more = Array.from({ length: Number(process.argv[2] ?? 0) }, (_, n) => ({ name: `tool_${n}`, inputSchema: { type: "object" } }));

const methods = {
  initialize: ({ protocolVersion }) => ({ protocolVersion, capabilities: { tools: {} }, serverInfo: { name: "tool-server", version: "1" } }),
  ping: () => ({}),
  "tools/list": () => ({ tools: [{ name: "deploy", title: "Deploy", description: "Returns its arguments.", inputSchema }, ...more] }),
  "tools/call": ({ arguments: args }) => ({ content: [{ type: "text", text: JSON.stringify(args) }], structuredContent: args }),
};

createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  const answer = methods[method] ? { result: methods[method](params) } : { error: { code: -32601, message: "method not found" } };
  process.stdout.write(JSON.stringify({ jsonrpc: "2.0", id, ...answer }) + "\n");
});
