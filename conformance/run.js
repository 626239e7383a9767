// Runs the official MCP conformance suite against the fixture server, over HTTP
// and over stdio. A warning is a failure, and so is a check that was skipped.
// The last line is the summary.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as plan from "./plan.js";
import { list, run, serve } from "./suite.js";

const failures = [];
const ran = new Set(); // scenarios of the release that must be run whole
const met = new Set(); // what is left out over a transport and was there to be left out
const totals = {};
const folder = await mkdtemp(join(tmpdir(), "beam-conformance-"));
const began = Date.now();

// The two have servers of their own, and mostly wait: they take turns well.
await Promise.all([plan.http, plan.stdio].map(transport));
await attempt("the list of all scenarios", nothingForgotten);
await rm(folder, { recursive: true });

for (const f of failures) console.error(`✗ ${f}`);
const counts = Object.entries(totals).map(([name, t]) => `${t.scenarios} scenarios over ${name} (${t.checks} checks)`);
const seconds = ((Date.now() - began) / 1000).toFixed(1);
const verdict = failures.length ? `${failures.length} FAILED` : "all passed";
console.log(`conformance: ${verdict}: ${counts.join(", ")}, ${Object.keys(plan.extensions).length} of extensions left out, ${seconds} s`);
process.exitCode = failures.length ? 1 : 0;

/** transport runs all suites over one transport, one after the other. */
async function transport(t) {
  totals[t.name] = { scenarios: 0, checks: 0 };
  for (const suite of t.suites) {
    const name = `${t.name} ${suite.version ?? (suite.only ? "tasks" : "all")} (${suite.release.name})`;
    await attempt(name, async () => {
      const { scenarios, checks } = await judge(t, suite, name);
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

/** judge runs a suite against a server of its own and counts what passed. */
async function judge(t, suite, name) {
  const server = await serve(t.server);
  const { output, results } = await run(suite, server.url, join(folder, name)).finally(() => attempt(name, server.stop));
  const isLeftOut = (what) => what in t.leftOut && met.add(what);
  let checks = 0;
  let scenarios = 0;
  for (const [scenario, all] of results) {
    if (suite.release === plan.whole) ran.add(scenario);
    if (isLeftOut(scenario)) continue;
    scenarios++;
    if (scenario in plan.skipped) {
      if (all.some((c) => c.status !== "SKIPPED")) failures.push(`${name}: ${scenario} is said to be skipped by the suite, and is not`);
      continue;
    }
    const judged = all.filter((c) => c.status !== "INFO" && !isLeftOut(`${scenario}:${c.id}`));
    const bad = judged.filter((c) => c.status !== "SUCCESS");
    for (const c of bad) failures.push(`${name}: ${scenario}: ${c.id}: ${c.status}: ${c.errorMessage ?? c.description}`);
    if (!judged.length) failures.push(`${name}: ${scenario}: it checked nothing`);
    checks += judged.length - bad.length;
  }
  if (scenarios !== suite.scenarios) {
    failures.push(`${name}: ${scenarios} scenarios were run and not ${suite.scenarios}\n${output}`);
  }
  return { scenarios, checks };
}

/** nothingForgotten holds what was run against all that there is. */
async function nothingForgotten() {
  const all = new Set(await list(plan.whole));
  for (const name of all) {
    if (!ran.has(name) && !(name in plan.extensions)) failures.push(`${name} was not run, and nothing says why`);
  }
  for (const name of Object.keys(plan.extensions)) {
    if (!all.has(name) || ran.has(name)) failures.push(`${name} is said to be left out, and is not`);
  }
  for (const name of Object.keys(plan.stdio.leftOut)) {
    if (!met.has(name)) failures.push(`${name} is said to be left out over stdio, and was not there`);
  }
}
