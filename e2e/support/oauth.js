// An authorization server in a process of its own, a Beam that accepts its access tokens, and
// MCP clients that get them.
import { spawn } from "node:child_process";
import { createSign, generateKeyPairSync } from "node:crypto";
import { once } from "node:events";
import { createRequire } from "node:module";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

import { start } from "./beam.js";
import { freePort } from "./proxy.js";

const require = createRequire(new URL("../../interop/package.json", import.meta.url));
const clients = {
  1: { ...require("@modelcontextprotocol/sdk/client/index.js"), ...require("@modelcontextprotocol/sdk/client/streamableHttp.js") },
  2: require("@modelcontextprotocol/client"),
};
const { ElicitRequestSchema } = require("@modelcontextprotocol/sdk/types.js");

const people = {
  ada: { name: "Ada Lovelace", roles: ["ops"] },
  bob: { name: "Bob", roles: ["dev"] },
  root: { name: "Root", roles: ["operator"] },
};

/** makeKey makes a private key of an issuer, as a JWK. */
export function makeKey(kid) {
  const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  return { ...privateKey.export({ format: "jwk" }), kid, alg: "RS256", use: "sig" };
}

/** sign makes a JWT of any header and claims. */
export function sign(key, header, claims) {
  const encode = (v) => Buffer.from(JSON.stringify(v)).toString("base64url");
  const signed = `${encode({ alg: "RS256", kid: key.kid, typ: "at+jwt", ...header })}.${encode(claims)}`;
  return `${signed}.${createSign("RSA-SHA256").update(signed).sign({ key, format: "jwk" }, "base64url")}`;
}

/**
 * startIssuer starts an authorization server at which ada and bob sign in.
 *
 * @param {object} [options] as issuer.js has them
 * @returns {Promise<{url: string, key: object, stop: () => Promise<void>}>} its URL, its
 *   private key, and a function that stops it
 */
export async function startIssuer(options = {}) {
  const key = makeKey(`key-${Date.now()}`);
  const argument = JSON.stringify({ people, scopes: ["beam", "other"], jwks: { keys: [key] }, ...options });
  const child = spawn(process.execPath, [fileURLToPath(new URL("issuer.js", import.meta.url)), argument], { stdio: ["ignore", "pipe", "ignore"] });
  const exit = once(child, "exit");
  const [line] = await Promise.race([
    once(createInterface({ input: child.stdout }), "line"),
    exit.then(([status]) => Promise.reject(new Error(`the issuer ended with ${status}`))),
  ]);
  return {
    url: JSON.parse(line).issuer,
    key,
    async stop() {
      child.kill("SIGTERM");
      await exit;
    },
  };
}

/** startProtected starts a Beam that accepts the access tokens of an issuer, on a port. */
export async function startProtected({ issuer, port }, ...flags) {
  port ??= await freePort();
  const url = `http://127.0.0.1:${port}`;
  const beam = await start("--addr", `127.0.0.1:${port}`, "--url", url, "--oauth-issuer", issuer, "--oauth-scope", "beam", "--oauth-roles-claim", "roles", ...flags);
  return { ...beam, mcp: `${url}/mcp` };
}

/**
 * authorize signs in as a person at an authorization URL, without a browser.
 *
 * @returns {Promise<URL>} where the issuer then sends the browser, with a code
 */
export async function authorize(url, name) {
  const cookies = new Map();
  let at = new URL(url);
  let request = {};
  for (let steps = 0; steps < 10; steps++) {
    const headers = { cookie: [...cookies].map(([k, v]) => `${k}=${v}`).join("; ") };
    const response = await fetch(at, { redirect: "manual", ...request, headers });
    for (const line of response.headers.getSetCookie()) {
      const [, k, v] = line.match(/^([^=]+)=([^;]*)/);
      cookies.set(k, v);
    }
    const to = response.headers.get("location");
    if (response.status !== 200 && !to) throw new Error(`${at}: ${response.status} ${await response.text()}`);
    request = to ? {} : { method: "POST", body: new URLSearchParams({ name }) };
    if (to) at = new URL(to, at);
    if (at.origin !== new URL(url).origin) return at;
  }
  throw new Error(`${url} does not lead to a code`);
}

const redirect = "http://127.0.0.1:1/callback"; // nothing listens there: the test reads the code from the address

/**
 * login makes the part of an MCP client that gets access tokens, for one person who signs
 * in at once. The client registers, unless it has a client id metadata document.
 *
 * @param {string} name
 * @param {string} [document] the URL of the document
 */
export function login(name, document) {
  const saved = {};
  return {
    saved,
    redirectUrl: redirect,
    clientMetadata: clientMetadata,
    clientMetadataUrl: document,
    clientInformation: () => saved.client,
    saveClientInformation: (client) => void (saved.client = client),
    tokens: () => saved.tokens,
    saveTokens: (tokens) => void (saved.tokens = tokens),
    saveCodeVerifier: (verifier) => void (saved.verifier = verifier),
    codeVerifier: () => saved.verifier,
    saveDiscoveryState: (state) => void (saved.discovery = state),
    discoveryState: () => saved.discovery,
    async redirectToAuthorization(url) {
      saved.authorization = url;
      saved.callback = await authorize(url, name);
    },
  };
}

/** clientMetadata is what the client says of itself when it registers, and in its document. */
export const clientMetadata = {
  client_name: "A client", redirect_uris: [redirect], token_endpoint_auth_method: "none", application_type: "native",
  grant_types: ["authorization_code"], response_types: ["code"],
};

/**
 * connect connects an official MCP client, which gets an access token for the endpoint.
 *
 * @param {1|2} generation of the TypeScript SDK
 * @param {string} endpoint
 * @param {object} authProvider see login
 * @param {Function} [elicit] answers elicitations
 */
export async function connect(generation, endpoint, authProvider, elicit) {
  const { Client, StreamableHTTPClientTransport } = clients[generation];
  const open = async () => {
    const client = new Client({ name: "oauth", version: "1" }, { capabilities: elicit ? { elicitation: { form: {}, url: {} } } : {} });
    if (elicit) client.setRequestHandler(generation === 1 ? ElicitRequestSchema : "elicitation/create", (r) => elicit(r.params));
    const transport = new StreamableHTTPClientTransport(new URL(endpoint), { authProvider });
    return { client, transport, connected: client.connect(transport) };
  };
  const first = await open();
  try {
    await first.connected;
    return first.client;
  } catch (err) {
    if (!authProvider.saved.callback) throw err;
  }
  const callback = authProvider.saved.callback.searchParams;
  await first.transport.finishAuth(generation === 1 ? callback.get("code") : callback);
  const second = await open();
  await second.connected;
  return second.client;
}
