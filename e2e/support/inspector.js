// MCP Inspector's web UI, connected to Beam through a proxy that takes elicitation from what
// Inspector declares, as clients are that can only ask in the chat.
import { spawn } from "node:child_process";
import { createServer, request as forward } from "node:http";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { freePort } from "./proxy.js";

const program = fileURLToPath(new URL("../../interop/node_modules/.bin/mcp-inspector", import.meta.url));
const startsWithin = 60_000; // milliseconds

/** withoutElicitation serves url without the capability elicitation of clients. */
async function withoutElicitation(url) {
  const server = createServer(async (request, response) => {
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    let body = Buffer.concat(chunks);
    if (body.includes('"initialize"')) {
      const message = JSON.parse(body);
      delete message.params?.capabilities?.elicitation;
      body = Buffer.from(JSON.stringify(message));
    }
    const { host, "content-length": _, ...headers } = request.headers;
    if (body.length) headers["content-length"] = body.length;
    const onward = forward(new URL(request.url, url), { method: request.method, headers }, (answer) => {
      response.writeHead(answer.statusCode, answer.headers);
      answer.pipe(response);
    });
    onward.on("error", () => response.destroy());
    response.on("close", () => onward.destroy());
    onward.end(body);
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  return server;
}

/** startInspector starts Inspector for a Beam, and returns its address. */
export async function startInspector(url) {
  const [proxy, home] = [await withoutElicitation(url), await mkdtemp(join(tmpdir(), "beam-inspector-"))];
  const port = await freePort();
  const child = spawn(process.execPath, [program, "--web", "--transport", "http", "--server-url", `http://127.0.0.1:${proxy.address().port}/mcp`], {
    env: {
      ...process.env, HOME: home, CLIENT_PORT: port, MCP_SANDBOX_PORT: await freePort(), MCP_APP_ORIGIN_PORT: await freePort(),
      MCP_INSPECTOR_SECRET_STORE: "memory", DANGEROUSLY_OMIT_AUTH: "true", MCP_AUTO_OPEN_ENABLED: "false",
    },
    stdio: ["ignore", "pipe", "ignore"],
    detached: true, // it starts a process of its own
  });
  const stop = async () => {
    process.kill(-child.pid, "SIGKILL");
    proxy.closeAllConnections();
    proxy.close();
    await rm(home, { recursive: true, force: true });
  };
  const ready = new Promise((resolve, reject) => {
    createInterface({ input: child.stdout }).on("line", (line) => line.includes("up and running") && resolve());
    child.on("exit", (status) => reject(new Error(`Inspector exited with ${status}`)));
    setTimeout(() => reject(new Error("Inspector did not start")), startsWithin).unref();
  });
  try {
    await ready;
  } catch (err) {
    await stop();
    throw err;
  }
  return { url: `http://127.0.0.1:${port}/`, stop };
}
