// Starts the program of the interoperability tests, and answers on its pages.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";

/** program is the binary of internal/systemtest/interop/photons. */
export const program = process.env.PHOTONS;
if (!program) throw new Error("PHOTONS must name the binary of ./internal/systemtest/interop/photons; make interop does");

const signInLine = "Sign in as its operator, once: ";

/** refusing are the flags that make a question fail if the client can't show it. */
export const refusing = ["--ask-fallback", "error"];

/**
 * serve starts the program as a server on a free port.
 *
 * @param {string[]} [flags] its flags
 * @param {string[]} [storage] the flags that say where it keeps its runs
 * @returns {Promise<{url: URL, signIn: string, stop: () => Promise<void>}>} its MCP
 *   endpoint, the single-use sign-in address, and a function that stops it
 */
export async function serve(flags = refusing, storage = ["--memory"]) {
  const child = spawn(program, ["serve", "--print-sign-in", "--addr", "127.0.0.1:0", ...storage, ...flags], { stdio: ["ignore", "pipe", "inherit"] });
  const exit = once(child, "exit");
  const signIn = await Promise.race([lineAfter(child.stdout, signInLine), exit.then(([status]) => Promise.reject(new Error(`it ended with ${status}`)))]);
  return {
    url: new URL("/mcp", signIn),
    signIn,
    async stop() {
      child.kill("SIGTERM");
      const [status, signal] = await exit;
      if (status !== 0) throw new Error(`beam ended with ${status ?? signal}`);
    },
  };
}

/**
 * serveFolder starts the program as serve does, with a data folder of its own. Its
 * function to returns what a client connects to: the URL or, over stdio, the command of a
 * program that joins the server.
 */
export async function serveFolder(flags = []) {
  const folder = await mkdtemp(join(tmpdir(), "beam-interop-"));
  const host = await serve(flags, ["--data", folder]);
  return {
    ...host,
    to: (transport) => (transport === "http" ? { url: host.url } : { command: program, args: ["stdio", "--data", folder] }),
    stop: () => host.stop().then(() => rm(folder, { recursive: true })),
  };
}

/** signInAddress returns the sign-in address that a program over stdio writes to stderr. */
export const signInAddress = (stderr) => lineAfter(stderr, signInLine);

function lineAfter(stream, prefix) {
  return new Promise((resolve) => {
    createInterface({ input: stream }).on("line", (line) => {
      if (line.startsWith(prefix)) resolve(line.slice(prefix.length).trim());
    });
  });
}

/** browse signs in and returns the session's cookies. */
export async function browse(address) {
  const r = await fetch(address, { redirect: "manual" });
  if (r.status !== 303) throw new Error(`signing in: ${r.status}`);
  return r.headers.getSetCookie().map((c) => c.split(";")[0]).join("; ");
}

/** handoff matches the address of a question's page. Its groups are the question's id and its run's. */
export const handoff = /http:\/\/\S+\/asks\/(([0-9a-f]{32})\.\d+)/;

/**
 * settle posts the form of the question whose address a text contains.
 *
 * @param {string} cookie of who answers
 * @param {string} text
 * @param {object} [fields] the answer; without it, the question is declined
 */
export async function settle(cookie, text, fields) {
  const [page, id] = text.match(handoff);
  const r = await fetch(new URL(`/mcp/request?ask=${id}&action=${fields ? "accept" : "decline"}`, page), {
    method: "POST",
    body: new URLSearchParams(fields),
    headers: { cookie, accept: "application/json" },
  });
  if (!r.ok) throw new Error(`answering on the page: ${r.status} ${await r.text()}`);
}

/** complete answers, on its page, a question for a secret, a file or a URL that stays open until it is done. */
export async function complete(cookie, tool, address) {
  const page = new URL(address);
  const shown = await fetch(page, { headers: { cookie } });
  if (shown.status !== 200) throw new Error(`the page of the question: ${shown.status}`);
  const body = tool === "file" ? new FormData() : new URLSearchParams({ secret: "hunter2" });
  if (tool === "file") body.set("file", new File(["hello"], "notes.txt", { type: "text/plain" }));
  const id = page.pathname.split("/").at(-1);
  const r = await fetch(new URL(`/mcp/request?ask=${id}&action=accept`, page), { method: "POST", body, headers: { cookie, accept: "application/json" } });
  if (r.status >= 300) throw new Error(`answering on the page: ${r.status} ${await r.text()}`);
}
