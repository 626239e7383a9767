// MCP clients present access tokens of a real authorization server.
import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

import { expect, test } from "@playwright/test";

import { clientMetadata, connect, freePort, login, makeKey, sign, startIssuer, startProtected } from "./support/oauth.js";

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
    beam = await startProtected(issuer.url);
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
  const beam = await startProtected(issuer.url, "--oauth-client-id", "beam", "--oauth-client-secret-file", secret);
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
  const beam = await startProtected(url);
  const keys = [makeKey("first"), makeKey("second")];
  const status = (key) => post(beam.mcp, sign(key, {}, goodClaims(url, beam.mcp))).then((r) => r.status);
  try {
    expect(await status(keys[0])).toBe(503);
    expect((await post(beam.mcp)).status).toBe(401); // clients are told where to go
    for (const key of keys) {
      const issuer = await startIssuer({ port, jwks: { keys: [key] } });
      await expect.poll(() => status(key), { timeout: 30_000 }).toBe(200);
      await issuer.stop();
      expect(await status(key)).toBe(200); // while it is down
    }
  } finally {
    await beam.stop();
  }
});
