// The fixtures of every test: a running Beam for each worker, and a page on which
// errors and requests to other hosts fail the test.
import { test as base, expect } from "@playwright/test";
import { start } from "./beam.js";
import { belowPath, startProxied } from "./proxied.js";

export { expect };

export const test = base.extend({
  beam: [
    async ({}, use, { project }) => {
      const beam = project.metadata.proxied ? await startProxied() : await start();
      await use(beam);
      await beam.stop();
    },
    { scope: "worker" },
  ],

  baseURL: async ({ beam }, use) => use(beam.url),

  // tolerated lists patterns of console messages that a test expects.
  tolerated: [[], { option: true }],

  context: async ({ beam, context, baseURL, tolerated }, use, testInfo) => {
    if (beam.signInNew) {
      belowPath(context, beam.url);
      await beam.signInNew(context);
    }
    const violations = watch(context, baseURL);
    await use(context);
    if (testInfo.status !== testInfo.expectedStatus) await attachScreenshots(context, testInfo);
    expect(violations.filter((what) => !tolerated.some((pattern) => pattern.test(what)))).toEqual([]);
  },
});

/**
 * untilOffered waits until a Beam has a photon: it starts even if the server whose tool that is
 * has not yet.
 */
export const untilOffered = (beam, photon) => expect.poll(async () => (await fetch(`${beam.url}/photons/${photon}`)).status).toBe(200);

// attachScreenshots keeps what a failed test saw. Playwright's own option takes pictures of
// passed tests, too, to delete them.
async function attachScreenshots(context, testInfo) {
  for (const [n, page] of context.pages().entries()) {
    await testInfo.attach(`page ${n + 1}`, { body: await page.screenshot(), contentType: "image/png" });
  }
}

/**
 * watch collects what must not happen in a context: console errors, exceptions,
 * and requests to other hosts.
 */
export function watch(context, baseURL) {
  const violations = [];
  context.on("console", (message) => {
    if (message.type() === "error") violations.push(`console: ${message.text()}`);
  });
  context.on("weberror", (event) => violations.push(`exception: ${event.error()?.stack}`));
  context.on("request", (request) => {
    const url = new URL(request.url());
    if (url.protocol.startsWith("http") && url.hostname !== new URL(baseURL).hostname) {
      violations.push(`request to another host: ${url}`);
    }
  });
  return violations;
}
