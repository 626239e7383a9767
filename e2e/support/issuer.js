// An OpenID Connect provider and OAuth authorization server in a process of its own:
//
//   node e2e/support/issuer.js '{"clients": [{"client_id": …}], "people": {"ada": {"groups": ["ops"]}}}'
//
// It listens on a free port of loopback, and prints {"issuer": URL} once it is ready. Anyone
// signs in as the person whose name they type, without a password, and consents to all.
// Clients, among them those of OAuth resource servers, are those of the argument, as
// oidc-provider's configuration has them. Access tokens for a resource are JWTs whose audience
// is the resource, and may have the scopes in "scopes", or opaque with "opaque". People's claims
// are in their ID tokens and in JWTs. "jwks" are its keys, if a test is to have them, and "port" where
// it listens, so that it can be started again with others. "documents" are client id metadata
// documents, by their URL.
import { createServer } from "node:http";
import Provider from "oidc-provider";

const { clients = [], people = {}, scopes = [], opaque = false, jwks, port = 0, documents = {} } = JSON.parse(process.argv[2] ?? "{}");

const listening = createServer();
listening.listen(port, "127.0.0.1", () => {
  const issuer = `http://127.0.0.1:${listening.address().port}`;
  const provider = new Provider(issuer, configuration());
  listening.on("request", (request, response) => {
    if (request.url.startsWith("/interaction/")) interact(provider, request, response).catch((err) => fail(response, err));
    else provider.callback()(request, response);
  });
  console.log(JSON.stringify({ issuer }));
});
process.on("SIGTERM", () => process.exit(0));

function configuration() {
  const claims = new Set(Object.values(people).flatMap((person) => Object.keys(person)));
  return {
    clients,
    ...(jwks && { jwks }),
    scopes: ["openid", "offline_access", ...scopes],
    claims: { openid: ["sub", ...claims] },
    conformIdTokenClaims: false, // claims are in the ID token, as with most providers
    pkce: { required: () => true },
    cookies: { keys: ["a key for tests"] },
    extraTokenClaims: (_, token) => people[token.accountId],
    fetch: (url, options) => (documents[url] ? Response.json(documents[url]) : fetch(url, options)),
    findAccount: (_, id) => ({ accountId: id, claims: () => ({ sub: id, ...people[id] }) }),
    interactions: { url: (_, interaction) => `/interaction/${interaction.uid}` },
    features: {
      devInteractions: { enabled: false },
      introspection: { enabled: true, allowedPolicy: () => true },
      revocation: { enabled: true },
      registration: { enabled: true },
      clientCredentials: { enabled: true },
      resourceIndicators: {
        enabled: true,
        useGrantedResource: () => true,
        getResourceServerInfo: (_, resource) => ({ scope: scopes.join(" "), audience: resource, accessTokenFormat: opaque ? "opaque" : "jwt", jwt: { sign: { alg: "RS256" } } }),
      },
      clientIdMetadataDocument: { enabled: Object.keys(documents).length > 0, ack: "draft-02" },
    },
    ttl: { Session: 3600, Interaction: 600, Grant: 3600, IdToken: 600, AccessToken: 600 },
  };
}

// interact shows the sign-in form, or handles it, and consents to what is asked for.
async function interact(provider, request, response) {
  const { prompt, params, session } = await provider.interactionDetails(request, response);
  if (prompt.name === "login") {
    if (request.method !== "POST") return showForm(response);
    const name = new URLSearchParams(await text(request)).get("name");
    if (!Object.hasOwn(people, name)) return showForm(response, "There is nobody of this name.");
    return provider.interactionFinished(request, response, { login: { accountId: name } });
  }
  const grant = new provider.Grant({ accountId: session.accountId, clientId: params.client_id });
  grant.addOIDCScope("openid offline_access");
  if (params.scope) grant.addOIDCScope(params.scope);
  for (const resource of [params.resource ?? []].flat()) grant.addResourceScope(resource, scopes.join(" "));
  await provider.interactionFinished(request, response, { consent: { grantId: await grant.save() } }, { mergeWithLastSubmission: true });
}

function showForm(response, problem = "") {
  response.setHeader("Content-Type", "text/html; charset=utf-8");
  response.end(`<!DOCTYPE html><html lang="en"><title>Sign in</title><form method="post"><h1>The issuer</h1><p role="alert">${problem}</p>
    <label>Name <input name="name" autofocus></label> <button>Continue</button></form></html>`);
}

async function text(request) {
  let body = "";
  for await (const chunk of request) body += chunk;
  return body;
}

function fail(response, err) {
  response.statusCode = 500;
  response.end(String(err));
}
