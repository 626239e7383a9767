// Agent frameworks' MCP clients behind one interface. No model takes part: a test calls
// the tools that the framework would give it.
import { createMCPClient, ElicitationRequestSchema } from "@ai-sdk/mcp";
import { StdioMCPTransport } from "@ai-sdk/mcp/mcp-stdio";
import { MultiServerMCPClient } from "@langchain/mcp-adapters";
import { getAllMcpTools, MCPServerStdio, MCPServerStreamableHttp, RunContext, setTracingDisabled } from "@openai/agents";

/**
 * frameworks are the clients. Of each, connect connects to a server, given its URL or the
 * command that starts it, and returns a function that calls a tool and returns the text
 * that a model would read, and one that closes the connection. With elicit, which gets a
 * form's parameters, the client declares that it can show forms.
 */
export const frameworks = [
  { name: "AI SDK", elicits: true, connect: aiSDK },
  { name: "LangChain", elicits: false, connect: langChain },
  { name: "OpenAI Agents", elicits: false, connect: openAIAgents },
];

async function aiSDK(to, elicit) {
  const transport = to.url ? { type: "http", url: to.url.href } : new StdioMCPTransport({ ...to, stderr: "ignore" });
  const client = await createMCPClient({ transport, capabilities: elicit ? { elicitation: {} } : {} });
  if (elicit) client.onElicitationRequest(ElicitationRequestSchema, ({ params }) => elicit(params));
  const tools = await client.tools();
  return {
    async call(name, args = {}) {
      const { execute, toModelOutput } = tools[name];
      const output = await execute(args, { toolCallId: "1", messages: [] });
      const read = toModelOutput({ toolCallId: "1", input: args, output });
      return read.type === "content" ? texts(read.value) : JSON.stringify(read.value);
    },
    close: () => client.close(),
  };
}

async function langChain(to) {
  const server = to.url ? { transport: "http", url: to.url.href } : { transport: "stdio", ...to, stderr: "ignore" };
  const client = new MultiServerMCPClient({ beam: server });
  const tools = await client.getTools();
  return {
    async call(name, args = {}) {
      const tool = tools.find((t) => t.name === name);
      return texts(await tool.invoke(args).catch((err) => err.message)); // as its tool nodes do
    },
    close: () => client.close(),
  };
}

async function openAIAgents(to) {
  setTracingDisabled(true); // it would go to its maker
  const server = to.url ? new MCPServerStreamableHttp({ url: to.url.href }) : new MCPServerStdio(to);
  await server.connect();
  const tools = await getAllMcpTools([server]);
  return {
    async call(name, args = {}) {
      const tool = tools.find((t) => t.name === name);
      return texts(await tool.invoke(new RunContext(), JSON.stringify(args)));
    },
    close: () => server.close(),
  };
}

// texts returns the text of a string, a content block or several.
const texts = (read) => (typeof read === "string" ? read : [read].flat().map((block) => block.text).join("\n"));
