// A server on the official TypeScript SDK 2, over stdio. Its tool deploy asks, and returns
// structured content.
import { acceptedContent, fromJsonSchema, inputRequired, McpServer } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";

const object = (properties) => ({ type: "object", properties, required: Object.keys(properties) });

serveStdio(() => {
  const server = new McpServer({ name: "sdk-2", version: "1.0.0" }, { capabilities: { tools: {} } });
  const definition = {
    inputSchema: fromJsonSchema(object({ env: { type: "string" } })),
    outputSchema: fromJsonSchema(object({ env: { type: "string" }, by: { type: "string" } })),
  };
  server.registerTool("deploy", definition, async ({ env }, context) => {
    const answer = acceptedContent(context.mcpReq.inputResponses, "who");
    if (!answer) {
      const who = inputRequired.elicit({ message: `Who deploys to ${env}?`, requestedSchema: object({ name: { type: "string" } }) });
      return inputRequired({ inputRequests: { who } });
    }
    const release = { env, by: answer.name };
    return { content: [{ type: "text", text: `${answer.name} deployed to ${env}.` }], structuredContent: release };
  });
  return server;
});
