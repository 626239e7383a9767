// Runs the official MCP conformance suite against the fixture server, over HTTP
// and over stdio, and against the fixture client. A warning or a skipped check is a failure.
// The last line is the summary.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as plan from "./plan.js";
import { list, runClient, runServer, serve } from "./suite.js";

const failures = [];
const ran = new Set(); // scenarios that were run of the release that must be covered
const leftOutSeen = new Set(); // names in leftOut that the suite has
const totals = {};
const folder = await mkdtemp(join(tmpdir(), "beam-conformance-"));
const start = Date.now();

// The transports have separate servers and mostly wait, so they can run at once.
await Promise.all([plan.http, plan.stdio, plan.client].map(runSuites));
await attempt("the list of all scenarios", checkCoverage);
await rm(folder, { recursive: true });

for (const f of failures) console.error(`✗ ${f}`);
const counts = Object.entries(totals).map(([name, t]) => `${t.scenarios} scenarios over ${name} (${t.checks} checks)`);
const seconds = ((Date.now() - start) / 1000).toFixed(1);
const verdict = failures.length ? `${failures.length} FAILED` : "all passed";
console.log(`conformance: ${verdict}: ${counts.join(", ")}, ${Object.keys(plan.extensions).length} of extensions left out, ${seconds} s`);
process.exitCode = failures.length ? 1 : 0;

/** runSuites runs all suites over one transport, or of the client, one after the other. */
async function runSuites(t) {
  totals[t.name] = { scenarios: 0, checks: 0 };
  for (const suite of t.suites) {
    const name = `${t.name} ${suite.version ?? (suite.only ? "tasks" : "all")} (${suite.release.name})`;
    await attempt(name, async () => {
      const { scenarios, checks } = await runSuite(t, suite, name);
      totals[t.name].scenarios += scenarios;
      totals[t.name].checks += checks;
      console.log(`${name}: ${scenarios} scenarios, ${checks} checks`);
    });
  }
}

async function attempt(name, work) {
  try {
    await work();
  } catch (err) {
    failures.push(`${name}: ${err.message}`);
  }
}

/** runSuite runs a suite, and counts its scenarios and the checks that passed. */
async function runSuite(t, suite, name) {
  const { output, results } = await (t.command ? runClient(suite, t.command, join(folder, name)) : runWithServer(t, suite, name));
  const isLeftOut = (what) => what in t.leftOut && leftOutSeen.add(what);
  let checks = 0;
  let scenarios = 0;
  for (const [scenario, all] of results) {
    if (suite.release === plan.whole) ran.add(scenario);
    if (isLeftOut(scenario)) continue;
    scenarios++;
    if (scenario in plan.skipped) {
      if (all.some((c) => c.status !== "SKIPPED")) failures.push(`${name}: plan.js says that the suite skips ${scenario}, but it does not`);
      continue;
    }
    const counted = all.filter((c) => c.status !== "INFO" && !isLeftOut(`${scenario}:${c.id}`) && !isLeftOut(`${scenario}:${c.name}`));
    const failed = counted.filter((c) => c.status !== "SUCCESS");
    for (const c of failed) failures.push(`${name}: ${scenario}: ${c.id}: ${c.status}: ${c.errorMessage ?? c.description}`);
    if (!counted.length) failures.push(`${name}: ${scenario}: it has no checks`);
    checks += counted.length - failed.length;
  }
  if (scenarios !== suite.scenarios) {
    failures.push(`${name}: ${scenarios} scenarios were run, want ${suite.scenarios}\n${output}`);
  }
  return { scenarios, checks };
}

/** runWithServer runs a suite against a server of its own. */
async function runWithServer(t, suite, name) {
  const server = await serve(t.server);
  return runServer(suite, server.url, join(folder, name)).finally(() => attempt(name, server.stop));
}

/** checkCoverage reports scenarios that were neither run nor left out on purpose, and names in plan.js that match nothing. */
async function checkCoverage() {
  const all = new Set([...(await list(plan.whole, "server")), ...(await list(plan.whole, "client"))]);
  for (const name of all) {
    if (!ran.has(name) && !(name in plan.extensions) && !(name in plan.client.leftOut)) failures.push(`${name} was not run, and plan.js does not leave it out`);
  }
  for (const name of Object.keys(plan.extensions)) {
    if (!all.has(name) || ran.has(name)) failures.push(`plan.js leaves out ${name}, but it was run or does not exist`);
  }
  for (const t of [plan.stdio, plan.client]) {
    for (const name of Object.keys(t.leftOut)) {
      if (!leftOutSeen.has(name) && !all.has(name)) failures.push(`plan.js leaves out ${name} for ${t.name}, but the suite does not have it`);
    }
  }
}
