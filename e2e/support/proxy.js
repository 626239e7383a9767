// Starts reverse proxies that end TLS and serve Beam below a path, beside a page of
// their own.
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

const startsWithin = 15_000; // milliseconds

/** freePort returns a port that nothing listens on. */
export async function freePort() {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address();
  await new Promise((resolve) => server.close(resolve));
  return port;
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
  skip_install_trust
  grace_period 1s
  storage file_system ${folder}
}
https://localhost:${port} {
  bind 127.0.0.1
  tls internal
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
    // The standard library's own program makes the certificate.
    prepare: (folder) => {
      const generate = join(execFileSync("go", ["env", "GOROOT"], { encoding: "utf8" }).trim(), "src/crypto/tls/generate_cert.go");
      execFileSync("go", ["run", generate, "--host", "localhost", "--ecdsa-curve", "P256"], { cwd: folder, stdio: "ignore" });
    },
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
  proxy.prepare?.(folder);
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
  for (const end = Date.now() + startsWithin; !(await listens(options.port)); ) {
    if (Date.now() < end && child.exitCode === null) continue;
    await stop();
    throw new Error(`${name} did not start\n${log}`);
  }
  return stop;
}

// listens reports whether something listens on a port.
function listens(port) {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1");
    socket.on("connect", () => resolve(true)).on("error", () => setTimeout(() => resolve(false), 20));
    socket.on("connect", () => socket.destroy());
  });
}
