// Runs the official suite's command, and the server that it tests.
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as after } from "node:timers/promises";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const startsWithin = 60_000; // milliseconds
const stopsWithin = 60_000; // the bridge has many processes to end
const suiteWithin = 180_000; // a scenario has 30 s in the newest release, and no limit in the other

/**
 * serve starts a server under bin/ that prints the address of its endpoint.
 *
 * @param {string[]} command
 * @returns {Promise<{url: string, stop: () => Promise<void>}>} stop throws if it doesn't end well, or complained
 */
export async function serve([name, ...args]) {
  const child = spawn(join("bin", name), args, { cwd: root, stdio: ["ignore", "pipe", "pipe"] });
  let complaints = "";
  child.stderr.on("data", (chunk) => (complaints += chunk));
  const ended = once(child, "close").then(([status, signal]) => status ?? signal);
  const said = await Promise.race([
    once(createInterface({ input: child.stdout }), "line"),
    ended,
    after(startsWithin, "no address", { ref: false }),
  ]);
  const stop = async () => {
    child.kill("SIGTERM");
    const status = await Promise.race([ended, after(stopsWithin, "no end in time", { ref: false })]);
    child.kill("SIGKILL");
    if (status !== 0 || complaints) throw new Error(`${name} ended with ${status}\n${complaints}`);
  };
  if (Array.isArray(said)) return { url: said[0], stop };
  child.kill("SIGKILL");
  throw new Error(`${name} did not start: ${said}\n${complaints}`);
}

/**
 * command runs the suite's command.
 *
 * @returns {Promise<string>} its output; whether it failed is in its results
 */
function command(release, ...args) {
  const main = join(root, "conformance/node_modules", release.folder, "dist/index.js");
  return new Promise((resolve, reject) => {
    const options = { timeout: suiteWithin, maxBuffer: 1 << 28 };
    execFile(process.execPath, [main, ...args], options, (err, stdout, stderr) =>
      err?.killed ? reject(new Error(`${release.name} took more than ${suiteWithin} ms\n${stdout}`)) : resolve(stdout + stderr),
    );
  });
}

/** list returns the names of a release's scenarios for servers or clients. */
export async function list(release, kind) {
  const said = await command(release, "list", `--${kind}`);
  return [...said.matchAll(/^ +- ([\w/-]+)/gm)].map(([, name]) => name);
}

/**
 * runServer runs every scenario for servers and a version of the protocol, the scenarios
 * in only, or all.
 *
 * @returns {Promise<{output: string, results: Map<string, object[]>}>} the checks of each scenario
 */
export async function runServer({ release, version, only }, url, folder) {
  const versions = version ? ["--spec-version", version] : [];
  const choices = only ? only.map((name) => ["--scenario", name]) : [["--suite", "all", ...versions]];
  let output = "";
  for (const choice of choices) output += await command(release, "server", "--url", url, ...choice, "-o", folder);
  return { output, results: await readResults(folder, "server-") };
}

/** runClient is runServer for a client under bin/, which the suite starts for each scenario. */
export async function runClient({ release, version }, name, folder) {
  const versions = version ? ["--spec-version", version] : [];
  const output = await command(release, "client", "--command", join(root, "bin", name), "--suite", "all", ...versions, "-o", folder);
  return { output, results: await readResults(folder, "") };
}

/** readResults reads the checks of each scenario. Some scenarios have a slash in their name. */
async function readResults(folder, prefix) {
  const results = new Map();
  for (const file of await readdir(folder, { recursive: true }).catch(() => [])) {
    const found = file.match(/^(.+)-\d{4}-\d\d-\d\dT[^/]*\/checks\.json$/);
    if (found) results.set(found[1].slice(prefix.length), JSON.parse(await readFile(join(folder, file), "utf8")));
  }
  return results;
}
