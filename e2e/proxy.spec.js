// A whole run behind a proxy that ends TLS and serves Beam below a path.
import { test as base, expect } from "@playwright/test";
import { start } from "./support/beam.js";
import { watch } from "./support/fixtures.js";
import { freePort, proxies, startProxy } from "./support/proxy.js";
import { dialog, expectResult, fillField, pressButton, startRun } from "./support/run-page.js";

const path = "/team/tools";
const test = base.extend({ ignoreHTTPSErrors: true }); // nobody signed the certificate

/** serve runs a function with Beam's URL behind a proxy and its sign-in address. */
async function serve(name, removesPath, work) {
  const port = await freePort();
  const url = `https://localhost:${port}${path}`;
  const beam = await start("--token", "a token of the tests", "--url", url);
  try {
    const stop = await startProxy(name, { port, path, upstream: beam.listens, removesPath });
    await work({ url, signIn: beam.signIn }).finally(stop);
  } finally {
    await beam.stop();
  }
}

for (const name of Object.keys(proxies)) {
  for (const removesPath of [false, true]) {
    const tag = removesPath === (name === "caddy") ? [] : "@long";
    test(`behind ${name}, which ${removesPath ? "removes" : "keeps"} the path`, { tag }, async ({ context, page }) => {
      await serve(name, removesPath, async ({ url, signIn }) => {
        const violations = watch(context, url);
        const outside = [];
        context.on("request", (request) => {
          const address = request.url();
          if (address.startsWith("http") && !address.startsWith(`${url}/`)) outside.push(address);
        });

        await page.goto(`${url}/runs?state=failed`);
        await expect(page).toHaveURL(`${url}/login?next=${encodeURIComponent(`${path}/runs?state=failed`)}`);
        await page.goto(signIn);
        await expect(page).toHaveURL(`${url}/runs?state=failed`);
        for (const cookie of await context.cookies()) {
          expect(cookie, cookie.name).toMatchObject({ path: `${path}/`, secure: true, httpOnly: true });
        }

        await startRun(page, "wizard", {}, url);
        await fillField(dialog(page), "name", "Ada");
        await pressButton(dialog(page), "Submit");
        await fillField(dialog(page), "email", "ada@example.org");
        await fillField(dialog(page), "role", "editor");
        await pressButton(dialog(page), "Submit");
        await page.reload();
        await pressButton(dialog(page), "Confirm");
        await expectResult(page, { name: "Ada", email: "ada@example.org", role: "editor", confirmed: true });

        await startRun(page, "kitchen_sink", { ask: "file" }, url);
        await page.getByRole("link", { name: /Waiting|Inbox|Questions/ }).first().click();
        await expect(page).toHaveURL(`${url}/asks`);
        await page.goBack();
        await fillField(dialog(page), "file", { name: "notes.txt", mimeType: "text/plain", buffer: Buffer.from("notes") });
        await pressButton(dialog(page), "Submit");
        await expectResult(page, { answer: { name: "notes.txt", size: 5 } });
        const download = page.waitForEvent("download");
        await page.getByRole("link", { name: /notes\.txt/ }).first().click();
        expect((await download).url()).toMatch(`${url}/runs/`);

        expect(outside).toEqual([]);
        expect(violations).toEqual([]);
        await page.goto(new URL("/", url).href);
        await expect(page.locator("body")).toHaveText("the site's own page");
      });
    });
  }
}
