// Starts and stops the real binary.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";

const startsWithin = 60_000; // milliseconds
const stopsWithin = 60_000;

/**
 * start runs beam on a free port and waits until it prints its address.
 *
 * @param {...string} args further flags; the log is in memory unless they include --data
   * @returns {Promise<{url: string, listens: string, pid: number, signIn: string, output: () => string, stop: () => Promise<void>, kill: () => Promise<void>}>}
   *   its address, the host and port that it listens on, its process, the single-use sign-in
   *   address, what it has printed, and functions that end it: stop with SIGTERM, which throws
   *   if it doesn't exit cleanly, and kill with SIGKILL
 */
export const start = (...args) => startProgram(process.env.BEAM, ...args);

/** startProgram is start for another program of photons. */
export async function startProgram(program, ...args) {
  const store = args.includes("--data") ? [] : ["--memory"];
  const child = spawn(program, ["--print-sign-in", "--addr", "127.0.0.1:0", ...store, ...args], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  let log = "";
  let output = "";
  child.stderr.on("data", (chunk) => (log += chunk));
  child.stdout.on("data", (chunk) => (output += chunk));
  const exit = once(child, "exit").then(([status, signal]) => status ?? signal);

  const { listens, signIn } = await Promise.race([
    addresses(child),
    exit.then((status) => Promise.reject(new Error(`it exited with ${status}`))),
    after(startsWithin).then(() => Promise.reject(new Error("it printed no sign-in address"))),
  ]).catch((err) => {
    child.kill("SIGKILL");
    throw new Error(`beam did not start: ${err.message}\n${log}`);
  });
  return {
    url: new URL(signIn).origin,
    listens,
    pid: child.pid,
    signIn,
    output: () => output,
    async kill() {
      child.kill("SIGKILL");
      await exit;
    },
    async stop() {
      child.kill("SIGTERM");
      const status = await Promise.race([exit, after(stopsWithin)]);
      if (status === 0) return;
      child.kill("SIGKILL");
      throw new Error(`beam ${status === undefined ? "did not exit" : `exited with ${status}`}\n${log}`);
    },
  };
}

// addresses reads beam's output until it contains a sign-in address.
function addresses(child) {
  return new Promise((resolve) => {
    let listens;
    createInterface({ input: child.stdout }).on("line", (line) => {
      listens ??= line.match(/^Beam listens on http:\/\/([^/]+)/)?.[1];
      const signIn = line.match(/https?:\/\/\S+\/login\?\S+/);
      if (signIn) resolve({ listens, signIn: signIn[0] });
    });
  });
}

// after resolves after some time. It doesn't keep the process alive.
function after(milliseconds) {
  return new Promise((resolve) => setTimeout(resolve, milliseconds).unref());
}
