// Beam in another program: two people who sign in with that program, behind a proxy that
// ends TLS.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { test as base, expect } from "@playwright/test";
import { embed } from "./support/build.js";
import { watch } from "./support/fixtures.js";
import { freePort, startProxy } from "./support/proxy.js";
import { dialog, expectEnd, fillField, pressButton, result, startRun } from "./support/run-page.js";

const test = base.extend({
  // site is the example's URL, and the passwords of its people.
  site: async ({}, use) => {
    const port = await freePort();
    const url = `https://localhost:${port}`;
    const child = spawn(embed, ["-addr", "127.0.0.1:0", "-url", `${url}/tools`], { stdio: ["ignore", "pipe", "inherit"] });
    const { upstream, passwords } = await started(child);
    const stop = await startProxy("caddy", { port, path: "", upstream });
    await use({ url, passwords });
    const exit = once(child, "exit");
    child.kill("SIGINT");
    expect((await exit)[0]).toBe(0);
    await stop();
  },
});

// started reads the program's output until it has named both people.
function started(child) {
  return new Promise((resolve, reject) => {
    let upstream;
    const passwords = {};
    child.on("exit", (status) => reject(new Error(`the program exited with ${status}`)));
    createInterface({ input: child.stdout }).on("line", (line) => {
      upstream ??= line.match(/listens on http:\/\/(\S+)/)?.[1];
      const person = line.match(/^(\w+) signs in with (\w+)$/);
      if (person) passwords[person[1]] = person[2];
      if (upstream && Object.keys(passwords).length === 2) resolve({ upstream, passwords });
    });
  });
}

/** signIn returns the page of a person who has signed in with the program. */
async function signIn(browser, site, name) {
  const context = await browser.newContext({ ignoreHTTPSErrors: true }); // nobody signed the certificate
  const violations = watch(context, site.url);
  const page = await context.newPage();
  await page.goto(site.url);
  await page.getByLabel("Name").fill(name);
  await page.getByLabel("Password").fill(site.passwords[name]);
  await page.getByRole("button", { name: "Sign in" }).click();
  await expect(page).toHaveURL(`${site.url}/tools/`);
  return { context, page, violations };
}

test("two people don't see each other's runs", async ({ browser, site }) => {
  const ada = await signIn(browser, site, "ada");
  const alan = await signIn(browser, site, "alan");
  const tools = `${site.url}/tools`;

  await startRun(ada.page, "invite", {}, tools);
  await expect(dialog(ada.page)).toContainText("Whom do you want to invite?");
  const run = ada.page.url();

  await alan.page.goto(`${tools}/asks`);
  await expect(alan.page.getByRole("main")).not.toContainText("Whom do you want to invite?");
  expect((await alan.page.goto(run)).status()).toBe(403);
  await expect(alan.page.locator("body")).not.toContainText("Whom do you want to invite?");

  await fillField(dialog(ada.page), "guest", "Grace");
  await pressButton(dialog(ada.page), "Submit");
  await expectEnd(ada.page, "completed");
  await expect(result(ada.page)).toContainText("Grace is invited by Ada");

  await startRun(alan.page, "invite", {}, tools);
  await fillField(dialog(alan.page), "guest", "Kurt");
  await pressButton(dialog(alan.page), "Submit");
  await expect(result(alan.page)).toContainText("Kurt is invited by Alan");
  await alan.page.goto(`${tools}/runs`);
  await expect(alan.page.getByRole("main")).not.toContainText("Grace");

  for (const { context, violations } of [ada, alan]) {
    for (const cookie of await context.cookies()) expect(cookie).toMatchObject({ name: "embed_session", secure: true });
    expect(violations.filter((what) => !what.includes("403"))).toEqual([]);
    await context.close();
  }
});

test("who hasn't signed in gets a plain page", async ({ browser, site }) => {
  const context = await browser.newContext({ ignoreHTTPSErrors: true });
  const page = await context.newPage();
  expect((await page.goto(`${site.url}/tools/`)).status()).toBe(401);
  await expect(page.locator("body")).toContainText("not signed in");
  await context.close();
});
