// The official client for tasks: @modelcontextprotocol/ext-tasks with
// @modelcontextprotocol/client.
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { createApplicationInputHandler, createTaskSessionFromClient } from "@modelcontextprotocol/ext-tasks/client";

const clientInfo = { name: "ext-tasks", version: "1" };

/**
 * connect connects to a server, given its URL or the command that starts it.
 *
 * @param {string} version the protocol version
 * @param {{url: URL} | {command: string, args: string[]}} to
 * @param {Function} [elicit] gets a form's parameters and returns its answer; without it, the
 *   client doesn't declare that it can show forms
 * @returns {Promise<{session, close: () => Promise<void>}>} the session that calls tools
 */
export async function connect(version, to, elicit) {
  const capabilities = elicit ? { elicitation: { form: {} } } : {};
  const modern = version === "2026-07-28";
  const client = new Client(clientInfo, { capabilities, ...(modern ? { versionNegotiation: { mode: { pin: version } } } : { supportedProtocolVersions: [version] }) });
  const transport = to.url ? new StreamableHTTPClientTransport(to.url) : new StdioClientTransport({ ...to, stderr: "ignore" });
  await client.connect(transport);
  const session = createTaskSessionFromClient(client, {
    endpointId: "beam",
    ...(modern ? { rawDispatch: rawDispatch(transport), v2RequestFraming: { protocolVersion: version, clientInfo, clientCapabilities: capabilities } } : {}),
    ...(elicit ? { onInputRequest: createApplicationInputHandler({ elicitation: ({ params }) => elicit(params) }) } : {}),
  });
  return { session, close: () => session.close().then(() => client.close()) };
}

// rawDispatch returns the function that sends requests of the tasks extension: the
// client's own methods don't accept their results.
function rawDispatch(transport) {
  const waiting = new Map();
  const onmessage = transport.onmessage;
  transport.onmessage = (message, extra) => {
    const resolve = waiting.get(message.id);
    if (!resolve) return onmessage(message, extra);
    waiting.delete(message.id);
    resolve(message.error ? { kind: "error", error: message.error } : { kind: "result", result: message.result });
  };
  let last = 0;
  return ({ method, params }, { signal, context } = {}) =>
    new Promise((resolve, reject) => {
      const id = `raw-${++last}`;
      waiting.set(id, resolve);
      transport.send({ jsonrpc: "2.0", id, method, params }, { headers: context?.headers, requestSignal: signal }).catch(reject);
    });
}
