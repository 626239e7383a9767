// What the fixtures of a project with metadata.proxied have in place of a Beam on loopback:
// one behind caddy, which ends TLS and serves it below a path, and a user for each test, as
// each has a session of its own otherwise.
import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { start } from "./beam.js";
import { freePort, startProxy } from "./proxy.js";

const run = promisify(execFile);
const path = "/team/tools";

/** notProxied has the specs that don't run behind the proxy, and why. */
export const notProxied = {
  "proxy.spec.js": "it starts the proxies itself",
  "embed.spec.js": "the example's own server has the front",
  "oauth.spec.js": "it starts Beams whose address is the audience of tokens",
  "apps.spec.js": "an MCP client in a chat reaches Beam without signing in",
  "pages.spec.js": "it starts a Beam with a model and upstreams of its own",
  "sampling.spec.js": "it starts Beams with models of its own",
  "upstreams.spec.js": "it starts Beams with upstreams of its own",
  "upstream-servers.spec.js": "it starts Beams with upstreams of its own",
  "tool-forms.spec.js": "it starts Beams with upstreams of its own",
  "signin.spec.js": "it is about Beams that don't require to sign in",
  "team.spec.js": "it starts the example with users of its own",
  "terminal.spec.js": "beam answers in the data folder, as the operator",
  "first-answer-wins.spec.js": "MCP clients reach Beam without signing in",
};

/** titlesNotProxied has tests of other specs that don't run behind the proxy, and why. */
export const titlesNotProxied = {
  "another browser doesn't see the run": "another browser is sent to the sign-in page",
  "what is typed goes with the tabs": "the page Connect tells of clients that sign in",
};

/** startProxied starts Beam with users behind the proxy. Its url ends with the path. */
export async function startProxied() {
  const folder = await mkdtemp(join(tmpdir(), "beam-users-"));
  const users = join(folder, "users.json");
  const command = async (...args) => (await run(process.env.BEAM, ["user", ...args, "--users", users])).stdout;
  await command("add", "first", "--no-token");
  const port = await freePort();
  const url = `https://localhost:${port}${path}`;
  const beam = await start("--users", users, "--url", url);
  const stopProxy = await startProxy("caddy", { port, path, upstream: beam.listens });
  let added = 0;
  return {
    ...beam,
    url,
    /** signIn signs a context in as a new user. */
    async signInNew(context) {
      const token = (await command("add", `user${++added}`)).trim();
      const response = await context.request.post(`${url}/login`, { form: { token }, headers: { Origin: new URL(url).origin }, maxRedirects: 0 });
      if (response.status() !== 303) throw new Error(`signing in: ${response.status()} ${await response.text()}`);
    },
    async stop() {
      await stopProxy();
      await beam.stop();
      await rm(folder, { recursive: true });
    },
  };
}

/** belowPath has a page take addresses of the journeys as below the proxy's path. */
export function belowPath(context, url) {
  const prefix = new URL(url).pathname;
  const below = (address) => (typeof address === "string" && /^\/(?!\/)/.test(address) && !`${address}/`.startsWith(`${prefix}/`) ? prefix + address : address);
  const wrap = (object, ...names) => {
    for (const name of names) {
      const original = object[name].bind(object);
      object[name] = (address, ...rest) => original(below(address), ...rest);
    }
  };
  wrap(context.request, "get", "post", "fetch", "put", "delete", "head");
  const newPage = context.newPage.bind(context);
  context.newPage = async () => {
    const page = await newPage();
    wrap(page, "goto");
    if (page.request !== context.request) wrap(page.request, "get", "post", "fetch", "put", "delete", "head");
    return page;
  };
}
