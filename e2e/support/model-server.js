// A model's server that speaks the Chat Completions API, for a test to control.
import { once } from "node:events";
import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";

/**
 * startModelServer starts a server and writes a file of models for `beam --models`.
 *
 * Each request waits for the test: next() returns it, and what the test does with it goes to Beam.
 *
 * @returns {Promise<{models: string, url: string, requests: object[], next: () => Promise<Call>, stop: () => Promise<void>}>}
 *   the path of the file, and all bodies so far
 */
export async function startModelServer(names = ["small", "large"]) {
  const requests = [];
  const arrived = [];
  const waiting = [];
  const server = createServer(async (request, response) => {
    let raw = "";
    for await (const chunk of request) raw += chunk;
    const body = JSON.parse(raw);
    requests.push(body);
    const call = new Call(raw, body, request.headers, response);
    const wake = waiting.shift();
    wake ? wake(call) : arrived.push(call);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = `http://127.0.0.1:${server.address().port}/v1`;

  const folder = await mkdtemp(join(tmpdir(), "beam-models-"));
  const models = join(folder, "models.json");
  const key = join(folder, "key");
  await writeFile(key, "sk-e2e-secret\n");
  await chmod(key, 0o600);
  const list = names.map((name, i) => ({
    name, endpoint: url, model: `${name}-1`, keyFile: key, cost: 1 - i, speed: 1 - i, intelligence: i, accepts: ["image", "tools"], retries: 1,
  }));
  await writeFile(models, JSON.stringify({ models: list }));
  return {
    models,
    url,
    requests,
    next: () => (arrived.length ? Promise.resolve(arrived.shift()) : new Promise((resolve) => waiting.push(resolve))),
    async stop() {
      server.closeAllConnections();
      server.close();
      await rm(folder, { recursive: true });
    },
  };
}

/** A Call is one request, and the response that the test gives. */
class Call {
  constructor(raw, body, headers, response) {
    Object.assign(this, { raw, body, headers, response, closed: false });
    response.on("close", () => (this.closed = true));
  }

  /** say sends text of the reply. */
  say(text) {
    if (!this.response.headersSent) this.response.writeHead(200, { "Content-Type": "text/event-stream" });
    this.#event({ model: this.body.model, choices: [{ index: 0, delta: { content: text } }] });
  }

  /** finish ends the reply. */
  finish(reason = "stop") {
    this.#event({ choices: [{ index: 0, delta: {}, finish_reason: reason }] });
    this.#event({ choices: [], usage: { prompt_tokens: 12, completion_tokens: 34 } });
    this.response.end("data: [DONE]\n\n");
  }

  /** reply sends a whole reply. */
  reply(text) {
    this.say(text);
    this.finish();
  }

  /** refuse sends an error. */
  refuse(status, message, headers = {}) {
    this.response.writeHead(status, { "Content-Type": "application/json", ...headers });
    this.response.end(JSON.stringify({ error: { message } }));
  }

  #event(data) {
    this.response.write(`data: ${JSON.stringify(data)}\n\n`);
  }
}
