// MCP clients present access tokens of a real authorization server.
import { execFile } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

import { expect, test } from "@playwright/test";

import { clientMetadata, connect, login, makeKey, sign, startIssuer, startProtected } from "./support/oauth.js";
import { freePort } from "./support/proxy.js";

const run = promisify(execFile);

/** post sends a request to an MCP endpoint, and returns the response. */
const post = (endpoint, token, method = "tools/list") =>
  fetch(endpoint, {
    method: "POST",
    headers: {
      "Content-Type": "application/json", Accept: "application/json, text/event-stream", "MCP-Protocol-Version": "2026-07-28", "Mcp-Method": method,
      ...(token && { Authorization: `Bearer ${token}` }),
    },
    body: JSON.stringify({
      jsonrpc: "2.0", id: 1, method,
      params: { _meta: { "io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientInfo": { name: "test", version: "1" }, "io.modelcontextprotocol/clientCapabilities": {} } },
    }),
  });

/** goodClaims are those of a token that is accepted. */
function goodClaims(issuer, endpoint, changes = {}) {
  const now = Math.floor(Date.now() / 1000);
  return { iss: issuer, aud: endpoint, sub: "ada", scope: "beam", iat: now, exp: now + 300, ...changes };
}

test.describe("with one issuer", () => {
  let issuer, beam;
  const document = "https://client.example/client.json";
  test.beforeAll(async () => {
    issuer = await startIssuer({ documents: { [document]: { ...clientMetadata, client_id: document, client_uri: "https://client.example/" } } });
    beam = await startProtected({ issuer: issuer.url });
  });
  test.afterAll(async () => {
    await beam?.stop();
    await issuer?.stop();
  });

  for (const [generation, how] of [[1, "by registration"], [2, "by registration"], [2, "by a client id metadata document"]]) {
    test(`client ${generation} gets a token ${how}, calls a tool, and answers it`, async () => {
      const person = login("ada", how === "by registration" ? undefined : document);
      const client = await connect(generation, beam.mcp, person, () => ({ action: "accept", content: { text: "hello" } }));
      const { authorization, tokens } = person.saved;
      expect(authorization.searchParams.get("resource")).toBe(beam.mcp);
      expect(authorization.searchParams.get("scope")).toBe("beam");
      expect(authorization.searchParams.get("code_challenge_method")).toBe("S256");
      if (how !== "by registration") expect(authorization.searchParams.get("client_id")).toBe(document);
      expect(JSON.parse(Buffer.from(tokens.access_token.split(".")[1], "base64url"))).toMatchObject({ aud: beam.mcp, sub: "ada", scope: "beam" });
      const result = await client.callTool({ name: "kitchen_sink", arguments: { ask: "text" } });
      expect(result.structuredContent).toMatchObject({ action: "accept", answer: "hello" });
      await client.close();
    });
  }

  test("a token of somebody else, or for something else, is refused", async () => {
    const own = (changes) => sign(issuer.key, {}, goodClaims(issuer.url, beam.mcp, changes));
    const now = Math.floor(Date.now() / 1000);
    const claims = goodClaims(issuer.url, beam.mcp);
    const unsigned = sign(issuer.key, { alg: "none" }, claims).replace(/[^.]*$/, "");
    const stranger = makeKey("stranger");
    expect((await post(beam.mcp, own())).status).toBe(200);
    for (const [what, token, status] of [
      ["no token", undefined, 401],
      ["another audience", own({ aud: `${beam.url}/other` }), 401],
      ["another issuer", own({ iss: "https://login.example" }), 401],
      ["expired", own({ exp: now - 120 }), 401],
      ["not yet valid", own({ nbf: now + 120 }), 401],
      ["alg none", unsigned, 401],
      ["an unknown key", sign(stranger, {}, claims), 401],
      ["another key with the id of the issuer's", sign({ ...stranger, kid: issuer.key.kid }, {}, claims), 401],
      ["another scope", own({ scope: "other" }), 403],
      ["no token after Bearer", "", 400],
    ]) {
      const response = await fetch(beam.mcp, { method: "POST", headers: token === undefined ? {} : { Authorization: `Bearer ${token}` } });
      expect(response.status, what).toBe(status);
      const challenge = response.headers.get("www-authenticate");
      expect(challenge, what).toContain(`Bearer resource_metadata="${beam.url}/.well-known/oauth-protected-resource/mcp", scope="beam"`);
      if (status === 403) expect(challenge).toContain('error="insufficient_scope"');
    }
    expect((await fetch(`${beam.mcp}?access_token=${own()}`, { method: "POST" })).status).toBe(400);
  });

  test("an ID token of the issuer is refused", async () => {
    const person = login("ada");
    person.clientMetadata = { ...clientMetadata, scope: "openid beam" };
    await (await connect(1, beam.mcp, person)).close();
    const { id_token: idToken } = person.saved.tokens;
    if (idToken) expect((await post(beam.mcp, idToken)).status).toBe(401);
    const shaped = sign(issuer.key, { typ: "JWT" }, goodClaims(issuer.url, beam.mcp, { nonce: "n" }));
    expect((await post(beam.mcp, shaped)).status).toBe(401);
  });

  test("beam doctor finds the server fit for MCP clients", async () => {
    const { stdout } = await run(process.env.BEAM, ["doctor", "--data", "/nonexistent/beam", "--oauth", issuer.url, "--url", beam.url, "--output", "json"]).catch((err) => err);
    const found = JSON.parse(stdout).findings.filter((f) => f.check === "oauth");
    expect(found.filter((f) => f.status !== "ok")).toEqual([]);
    expect(found.map((f) => f.text).join("\n")).toContain(`tokens must have the aud ${beam.mcp}`);
  });
});

test("an opaque token is introspected, and refused once it is revoked", async () => {
  const own = { client_id: "beam", client_secret: "a secret of Beam's own", grant_types: [], response_types: [], redirect_uris: [] };
  const issuer = await startIssuer({ opaque: true, clients: [own] });
  const folder = await mkdtemp(join(tmpdir(), "beam-oauth-"));
  const secret = join(folder, "secret");
  await writeFile(secret, `${own.client_secret}\n`);
  const beam = await startProtected({ issuer: issuer.url }, "--oauth-client-id", "beam", "--oauth-client-secret-file", secret);
  try {
    const person = login("ada");
    await (await connect(1, beam.mcp, person)).close();
    const { access_token: used } = person.saved.tokens;
    expect(used).not.toContain(".");
    expect((await post(beam.mcp, used)).status).toBe(200);

    const unused = login("bob");
    unused.tokens = () => undefined; // the client keeps what it gets, and doesn't use it
    await connect(1, beam.mcp, unused).catch(() => {});
    const { access_token: token } = unused.saved.tokens;
    const { revocation_endpoint: endpoint } = await (await fetch(`${issuer.url}/.well-known/openid-configuration`)).json();
    const gone = await fetch(endpoint, { method: "POST", body: new URLSearchParams({ token, client_id: unused.saved.client.client_id }) });
    expect(gone.status).toBe(200);
    const response = await post(beam.mcp, token);
    expect(response.status).toBe(401);
    expect(response.headers.get("www-authenticate")).toContain('error="invalid_token"');
    expect((await post(beam.mcp, "made-up")).status).toBe(401);
  } finally {
    await beam.stop();
    await issuer.stop();
    await rm(folder, { recursive: true });
  }
});

test("an issuer that is down when Beam starts, and then changes its key", async () => {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const beam = await startProtected({ issuer: url });
  const keys = [makeKey("first"), makeKey("second")];
  const status = (key) => post(beam.mcp, sign(key, {}, goodClaims(url, beam.mcp))).then((r) => r.status);
  try {
    expect(await status(keys[0])).toBe(503);
    expect((await post(beam.mcp)).status).toBe(401); // clients are told where to go
    for (const key of keys) {
      const issuer = await startIssuer({ port, jwks: { keys: [key] } });
      await expect.poll(() => status(key)).toBe(200);
      await issuer.stop();
      expect(await status(key)).toBe(200); // while it is down
    }
  } finally {
    await beam.stop();
  }
});

test("the page of a question is used only by the person whose client asked", async ({ browser }) => {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const pages = { client_id: "beam-pages", token_endpoint_auth_method: "none", redirect_uris: [`${url}/login/callback`], application_type: "native" };
  const issuer = await startIssuer({ clients: [pages] });
  const beam = await startProtected({ issuer: issuer.url, port }, "--oidc-issuer", issuer.url, "--oidc-client-id", "beam-pages", "--oidc-roles-claim", "roles");
  try {
    const asked = Promise.withResolvers();
    const client = await connect(1, beam.mcp, login("ada"), (question) => {
      asked.resolve(question);
      return { action: "accept" };
    });
    const call = client.callTool({ name: "kitchen_sink", arguments: { ask: "secret" } });
    const question = await asked.promise;
    expect(question.mode).toBe("url");
    const open = async (name) => {
      const page = await (await browser.newContext()).newPage();
      await page.goto(question.url); // which leads to the sign-in page
      await page.getByRole("link", { name: /^Sign in with/ }).click();
      await page.getByLabel("Name").fill(name);
      const response = page.waitForResponse((r) => r.url() === question.url);
      await page.getByRole("button", { name: "Continue" }).click();
      return { page, status: (await response).status() };
    };
    for (const name of ["bob", "root"]) { // who is an operator
      const { page, status } = await open(name);
      expect(status, name).toBe(403);
      await expect(page.getByText("This question was put to somebody else")).toBeVisible();
      await expect(page.getByLabel("Passphrase")).toHaveCount(0);
    }
    const { page, status } = await open("ada");
    expect(status).toBe(200);
    await page.getByRole("textbox", { name: "Passphrase" }).fill("open sesame");
    await page.getByRole("textbox", { name: "Passphrase" }).press("Enter");
    expect((await call).structuredContent).toMatchObject({ action: "accept" });
    await client.close();
  } finally {
    await beam.stop();
    await issuer.stop();
  }
});

test("a web page of an allowed origin is an MCP client, and one of another isn't", async ({ browser }) => {
  const site = createServer((_, response) => response.setHeader("Content-Type", "text/html").end("<title>A client</title>")).listen(0, "127.0.0.1");
  await once(site, "listening");
  const origin = `http://127.0.0.1:${site.address().port}`;
  const issuer = await startIssuer();
  const beam = await startProtected({ issuer: issuer.url }, "--allow-origin", origin);
  const token = sign(issuer.key, {}, goodClaims(issuer.url, beam.mcp));
  // use does what an MCP client does first: it reads the challenge, the metadata, and the session's id.
  const use = async ({ mcp, token }) => {
    const refused = await fetch(mcp, { method: "POST", credentials: "omit" });
    const [, metadata] = refused.headers.get("www-authenticate").match(/resource_metadata="([^"]+)"/);
    const { resource } = await (await fetch(metadata, { headers: { "MCP-Protocol-Version": "2025-11-25" } })).json();
    const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "page", version: "1" } };
    const response = await fetch(mcp, {
      method: "POST",
      headers: { "Content-Type": "application/json", Accept: "application/json, text/event-stream", Authorization: `Bearer ${token}` },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "initialize", params }),
    });
    return { refused: refused.status, resource, status: response.status, session: response.headers.get("mcp-session-id") };
  };
  try {
    const page = await (await browser.newContext()).newPage();
    await page.goto(origin);
    expect(await page.evaluate(use, { mcp: beam.mcp, token })).toMatchObject({ refused: 401, resource: beam.mcp, status: 200, session: expect.stringMatching(/.+/) });
    await expect(page.evaluate((url) => fetch(url).then((r) => r.status), `${beam.url}/runs`)).rejects.toThrow("Failed to fetch");
    await page.goto(origin.replace("127.0.0.1", "localhost")); // another origin
    await expect(page.evaluate(use, { mcp: beam.mcp, token })).rejects.toThrow("Failed to fetch");
  } finally {
    await beam.stop();
    await issuer.stop();
    site.closeAllConnections();
    site.close();
  }
});
