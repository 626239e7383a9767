// Starts reverse proxies that end TLS and serve Beam below a path, beside a page of
// their own.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { get } from "node:https";
import { copyFile, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { certificate } from "./build.js";

const startsWithin = 60_000; // milliseconds

// Each worker has a thousand ports of its own, none of which the system gives to who
// asks for any free port.
let nextPort = 20_000 + 1_000 * Number(process.env.TEST_PARALLEL_INDEX ?? 0);

/** freePort returns a port that nothing listens on. */
export async function freePort() {
  for (;;) {
    const port = nextPort++;
    const server = createServer().listen(port, "127.0.0.1");
    const free = await new Promise((resolve) => server.on("listening", () => resolve(true)).on("error", () => resolve(false)));
    if (!free) continue;
    await new Promise((resolve) => server.close(resolve));
    return port;
  }
}

/**
 * The proxies, by name. A configuration forwards the requests below a path to the
 * upstream; caddy's, if the path is empty, all.
 */
export const proxies = {
  caddy: {
    command: (folder) => ["caddy", "run", "--adapter", "caddyfile", "--config", join(folder, "config")],
    config: ({ port, path, upstream, removesPath, folder }) => `{
  admin off
  auto_https disable_redirects
  grace_period 1s
  storage file_system ${folder}
}
https://localhost:${port} {
  bind 127.0.0.1
  tls ${join(certificate, "cert.pem")} ${join(certificate, "key.pem")}
  ${removesPath ? "handle_path" : "handle"} ${path}/* {
    reverse_proxy ${upstream}
  }
  ${path && `handle {
    respond "the site's own page"
  }`}
}
`,
  },
  nginx: {
    command: (folder) => ["nginx", "-p", folder, "-c", "config", "-e", "stderr"],
    config: ({ port, path, upstream, removesPath }) => `daemon off;
pid nginx.pid;
error_log stderr;
worker_processes 1;
events {}
http {
  access_log off;
  client_body_temp_path body; proxy_temp_path proxy; fastcgi_temp_path fastcgi; uwsgi_temp_path uwsgi; scgi_temp_path scgi;
  server {
    listen 127.0.0.1:${port} ssl;
    ssl_certificate cert.pem;
    ssl_certificate_key key.pem;
    location ${path}/ {
      proxy_pass http://${upstream}${removesPath ? "/" : ""};
    }
    location / {
      return 200 "the site's own page";
    }
  }
}
`,
    prepare: (folder) => Promise.all(["cert.pem", "key.pem"].map((name) => copyFile(join(certificate, name), join(folder, name)))),
  },
};

/**
 * startProxy starts a proxy that forwards requests below a path to an upstream, with
 * the path or without it.
 *
 * @returns {Promise<() => Promise<void>>} a function that stops it
 */
export async function startProxy(name, options) {
  const folder = await mkdtemp(join(tmpdir(), "beam-proxy-"));
  const proxy = proxies[name];
  await mkdir(join(folder, "logs"));
  await writeFile(join(folder, "config"), proxy.config({ ...options, folder }));
  await proxy.prepare?.(folder);
  const [command, ...args] = proxy.command(folder);
  const child = spawn(command, args, { stdio: ["ignore", "ignore", "pipe"], env: { ...process.env, HOME: folder } });
  let log = "";
  child.stderr.on("data", (chunk) => (log += chunk));
  const exit = once(child, "exit");
  exit.catch((err) => (log += err));
  const stop = async () => {
    child.kill("SIGTERM");
    await exit;
    await rm(folder, { recursive: true });
  };
  for (const end = Date.now() + startsWithin; !(await answers(options.port)); ) {
    if (Date.now() < end && child.exitCode === null) continue;
    await stop();
    throw new Error(`${name} did not start\n${log}`);
  }
  return stop;
}

// answers reports whether a request over TLS is answered on a port.
function answers(port) {
  return new Promise((resolve) => {
    const request = get({ host: "localhost", port, path: "/", rejectUnauthorized: false, agent: false, timeout: startsWithin });
    request.on("timeout", () => request.destroy(new Error("no answer")));
    request.on("response", (response) => response.resume().on("end", () => resolve(true)));
    request.on("error", () => setTimeout(() => resolve(false), 20));
  });
}
