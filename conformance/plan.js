// Which scenarios are run and which are left out. The counts are those of the
// pinned releases; a run with another count fails.

/** Releases of the suite; folder is the name in package.json. */
const newest = { name: "0.2.0-alpha.12", folder: "conformance-newest" };
const latest = { name: "0.1.16", folder: "conformance-latest" };

/** The scenarios of the tasks extension, which no version of the protocol includes. */
const tasks = [
  "tasks-capability-negotiation",
  "tasks-dispatch-and-envelope",
  "tasks-lifecycle",
  "tasks-mrtr-composition",
  "tasks-mrtr-input",
  "tasks-request-headers",
  "tasks-request-state-removal",
  "tasks-required-task-error",
  "tasks-status-notifications",
  "tasks-wire-fields",
];

/** Scenarios whose checks the suite always skips. */
export const skipped = {
  "tasks-status-notifications": "the suite has no harness for subscriptions/listen yet; the tests of internal/mcp cover it",
};

export const http = {
  name: "http",
  server: ["fixture-serve"],
  leftOut: {},
  suites: [
    { release: newest, version: "2025-03-26", scenarios: 1 },
    { release: newest, version: "2025-06-18", scenarios: 27 },
    { release: newest, version: "2025-11-25", scenarios: 33 },
    { release: newest, version: "2026-07-28", scenarios: 40 },
    { release: newest, only: tasks, scenarios: 10 },
    { release: latest, scenarios: 32 },
  ],
};

// The suite supports only HTTP, so a bridge connects it to the server. 2025-03-26
// has only one scenario, server-session-lifecycle, which is left out.
export const stdio = {
  name: "stdio",
  server: ["fixture-bridge", "bin/fixture-serve", "stdio"],
  leftOut: {
    "server-session-lifecycle": "Mcp-Session-Id, DELETE and 404 belong to HTTP: over stdio, a session is a process",
    "server-sse-polling": "a pipe has no stream to break and resume",
    "dns-rebinding-protection": "a pipe has neither Host nor Origin",
    "http-header-validation": "a pipe has no headers",
    "http-custom-header-server-validation": "a pipe has no headers",
    "server-stateless:sep-2575-http-server-header-mismatch-400": "a pipe has no headers that could differ from the body",
    "tasks-request-headers:tasks-headers-reject-mismatched-method": "a pipe has no headers that could differ from the body",
    "tasks-request-headers:sep-2663-server-rejects-mismatched-mcp-name-on-tasks-get": "a pipe has no headers that could differ from the body",
  },
  suites: [
    { release: newest, version: "2025-06-18", scenarios: 26 },
    { release: newest, version: "2025-11-25", scenarios: 30 },
    { release: newest, version: "2026-07-28", scenarios: 37 },
    { release: newest, only: tasks, scenarios: 10 },
    { release: latest, scenarios: 30 },
  ],
};

const skills = "the skills extension, which Beam does not declare, so the suite skips it";

/** Scenarios of the newest release that are left out over both transports. */
export const extensions = {
  "sep-2640-skills-directory": skills,
  "sep-2640-skills-enumeration": skills,
  "sep-2640-skills-manifest": skills,
};

/** The reasons why scenarios for clients are left out, and the names that they concern. */
const authorization = [
  "2025-03-26-oauth-endpoint-fallback",
  "2025-03-26-oauth-metadata-backcompat",
  "authorization-server-migration",
  "basic-cimd",
  "client-credentials-basic",
  "client-credentials-jwt",
  "cross-app-access-complete-flow",
  "dpop",
  "dpop-nonce",
  "enterprise-managed-authorization",
  "iss-normalized",
  "iss-not-advertised",
  "iss-supported",
  "iss-supported-missing",
  "iss-unexpected",
  "iss-wrong-issuer",
  "metadata-default",
  "metadata-issuer-mismatch",
  "metadata-var1",
  "metadata-var2",
  "metadata-var3",
  "offline-access-not-supported",
  "offline-access-scope",
  "pre-registration",
  "resource-mismatch",
  "scope-from-scopes-supported",
  "scope-from-www-authenticate",
  "scope-omitted-when-undefined",
  "scope-retry-limit",
  "scope-step-up",
  "token-endpoint-auth-basic",
  "token-endpoint-auth-none",
  "token-endpoint-auth-post",
  "wif-jwt-bearer",
];
const clientSkills = ["no-prefetch", "verify-digest", "verify-frontmatter", "verify-size"];
const stateless = "2026-07-28 has no such message";

/** The scenarios for clients, which run bin/fixture-client. Names of checks follow a colon. */
export const client = {
  name: "the client",
  command: "fixture-client",
  leftOut: {
    ...Object.fromEntries(authorization.map((name) => [`auth/${name}`, "OAuth: Beam takes the headers of a server from its configuration"])),
    ...Object.fromEntries(clientSkills.map((name) => [`sep-2640-client-${name}`, skills])),
    "http-standard-headers:ClientMcpMethodHeader_initialize": stateless,
    "http-standard-headers:ClientMcpMethodHeader_notifications_initialized": stateless,
  },
  suites: [
    { release: newest, version: "2025-06-18", scenarios: 2 },
    { release: newest, version: "2025-11-25", scenarios: 5 },
    { release: newest, version: "2026-07-28", scenarios: 8 },
    { release: latest, scenarios: 4 },
  ],
};

/** The release whose scenarios must all be run or left out by name. */
export const whole = newest;
