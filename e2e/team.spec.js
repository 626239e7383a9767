// A team: people who sign in as themselves, and questions that somebody else must approve.
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { test as base, expect } from "@playwright/test";
import { expectAccessible } from "./support/axe.js";
import { startProgram } from "./support/beam.js";
import { approval } from "./support/build.js";
import { watch } from "./support/fixtures.js";
import { connectAs } from "./support/mcp-clients.js";
import { freePort } from "./support/proxy.js";
import { dialog, expectEnd, startRun } from "./support/run-page.js";

const test = base.extend({
  // folder is for the files of a test.
  folder: async ({}, use) => {
    const folder = await mkdtemp(join(tmpdir(), "beam-team-"));
    await use(folder);
    await rm(folder, { recursive: true });
  },

  // team is a Beam with ada and ben, who have the role ops, and cleo; and each one's token.
  team: async ({ folder }, use) => {
    const file = join(folder, "people.json");
    const user = (...args) => execFileSync(approval, ["user", ...args, "--users", file], { stdio: ["ignore", "pipe", "ignore"] }).toString().trim();
    const tokens = { ada: user("add", "ada", "--role", "ops"), ben: user("add", "ben", "--role", "ops"), cleo: user("add", "cleo") };
    const beam = await startProgram(approval, "--users", file, "--audit", join(folder, "audit.jsonl"));
    await use({ ...beam, tokens, user });
    await beam.stop();
  },

  // open returns the page of a new browser, and collects what must not happen there.
  open: async ({ browser }, use) => {
    const contexts = [];
    await use(async (url, tolerated = []) => {
      const context = await browser.newContext({ baseURL: url });
      contexts.push({ context, tolerated, violations: watch(context, url) });
      return context.newPage();
    });
    for (const { context, tolerated, violations } of contexts) {
      expect(violations.filter((what) => !tolerated.some((pattern) => pattern.test(what)))).toEqual([]);
      await context.close();
    }
  },
});

/** signIn signs a browser in with a token, and returns to the requested page. */
async function signIn(page, token, path = "/") {
  await page.goto(path);
  await page.getByLabel("Token").fill(token);
  await page.getByRole("button", { name: "Sign in" }).click();
  await expect(page).toHaveURL(path);
}

const who = "a person with the role ops or grace, but not the person who started the run";

test("four eyes, in two browsers and an MCP client", async ({ team, open }) => {
  const ada = await open(team.url);
  const ben = await open(team.url, [/status of 401/]);
  await signIn(ada, team.tokens.ada);
  await signIn(ben, team.tokens.ben, "/asks");
  await expect(ben.getByText("No questions are waiting for you.")).toBeVisible();

  // Ada asks, and can't approve.
  await startRun(ada, "deploy", { service: "shop", version: "1.2" });
  const own = dialog(ada, "Deploy shop 1.2?");
  await expect(own).toContainText(`Only ${who} can answer this.`);
  await expect(own.getByRole("button", { name: /Yes|No|Decline|Dismiss/ })).toHaveCount(0);
  await expectAccessible(ada);
  const run = ada.url();

  // Cleo's MCP client is told who may, and never asked.
  const asked = [];
  const client = await connectAs(team.url, team.tokens.cleo, (request) => (asked.push(request), { action: "accept", content: {} }));
  const handedOff = await client.callTool({ name: "deploy", arguments: { service: "blog", version: "7" } });
  expect(handedOff.content[0].text).toContain(`The user may not answer it. It is for ${who}.`);
  const waiting = handedOff._meta["io.github.photon-beam/waiting"];

  // Ben sees both, with what they show and without the runs; Ada only Cleo's.
  const lines = ben.locator(".inbox-list > li");
  await expect(lines).toHaveCount(2);
  await expect(lines.nth(0)).toContainText("Deploy shop 1.2?");
  await expect(lines.nth(0)).toContainText("for ada · for you");
  await expectAccessible(ben);
  await ada.goto("/asks");
  await expect(ada.locator(".inbox-list > li")).toHaveCount(1);
  await expect(ada.locator(".inbox-list")).toContainText("Deploy blog 7?");
  await ada.goto(run);

  await lines.nth(0).getByRole("link", { name: /^Open question/ }).click();
  await expect(ben.getByRole("main")).toContainText("+ image: shop:1.2");
  await expectAccessible(ben);
  await ben.screenshot({ path: test.info().outputPath("approve.png") });
  await ben.getByRole("button", { name: "Yes" }).click();
  await expect(ben).toHaveURL("/asks");
  await expectEnd(ada, "completed");
  await expect(ada.getByRole("main")).toContainText("ben");

  // A link to the question carries no authority, and works for who may answer.
  await ada.goto(`/asks/${waiting.asks[0].id}`);
  await ada.getByRole("button", { name: "Yes" }).click();
  await expect(ada).toHaveURL("/asks");
  const result = await client.callTool({ name: "beam_resume", arguments: { run: waiting.run } });
  expect(result.structuredContent ?? JSON.parse(result.content[0].text)).toMatchObject({ service: "blog", approved: "ada" });
  expect(asked).toEqual([]);
  await client.close();

  // Who is disabled is out at once.
  await expect(ben.getByText("No questions are waiting for you.")).toBeVisible();
  team.user("disable", "ben");
  await expect.poll(() => ben.evaluate(() => fetch("/runs", { headers: { Accept: "application/json" } }).then((r) => r.status))).toBe(401);
  await ben.goto("/asks");
  await expect(ben.getByRole("heading", { name: "Sign in" })).toBeVisible();
});

test("signing in with an identity provider, and out everywhere", async ({ open }) => {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const issuer = await startIssuer({
    clients: [{ client_id: "beam", token_endpoint_auth_method: "none", redirect_uris: [`${url}/login/callback`], response_types: ["code"], grant_types: ["authorization_code"] }],
    people: { ada: { name: "Ada Lovelace", groups: ["ops"] } },
  });
  const beam = await startProgram(approval, "--addr", `127.0.0.1:${port}`, "--url", url, "--oidc-issuer", issuer.url, "--oidc-client-id", "beam", "--oidc-roles-claim", "groups");
  try {
    const pages = [await open(url, [/status of 40[13]/]), await open(url, [/status of 401/])];
    for (const page of pages) {
      await page.goto("/account");
      await page.getByRole("link", { name: "Sign in with 127.0.0.1" }).click();
      await page.getByLabel("Name").fill("ada");
      await page.getByRole("button", { name: "Continue" }).click();
      await expect(page).toHaveURL("/account");
      await expect(page.getByRole("main")).toContainText("Ada Lovelace");
      await expect(page.getByRole("main")).toContainText(`oidc:${issuer.url}#ada`);
      await expect(page.getByRole("main")).toContainText("ops");
    }
    const [here, elsewhere] = pages;
    await expectAccessible(here);
    await startRun(here, "deploy", { service: "shop", version: "1.2" });
    await elsewhere.goto(here.url());
    await expect(dialog(elsewhere, "Deploy shop 1.2?")).toBeVisible(); // the same person's run

    await elsewhere.goto("/account");
    await elsewhere.getByRole("button", { name: "Sign out everywhere" }).click();
    await expect.poll(() => here.evaluate(() => fetch("/runs", { headers: { Accept: "application/json" } }).then((r) => r.status))).toBe(401);

    // A response that this browser did not ask for signs nobody in.
    const answer = await here.goto("/login/callback?code=x&state=y");
    expect(answer.status()).toBe(403);
    await expect(here.getByRole("alert")).toContainText("This browser did not begin this sign-in");
  } finally {
    await beam.stop();
    await issuer.stop();
  }
});

// startIssuer starts an identity provider.
async function startIssuer(configuration) {
  const program = new URL("./support/issuer.js", import.meta.url).pathname;
  const child = spawn(process.execPath, [program, JSON.stringify(configuration)], { stdio: ["ignore", "pipe", "ignore"] });
  const exit = once(child, "exit");
  const url = await new Promise((resolve, reject) => {
    exit.then(([status]) => reject(new Error(`the issuer exited with ${status}`)));
    createInterface({ input: child.stdout }).on("line", (line) => resolve(JSON.parse(line).issuer));
  });
  return { url, stop: () => (child.kill("SIGTERM"), exit) };
}
