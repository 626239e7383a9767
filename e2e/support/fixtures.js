// What every journey starts from: a running Beam of the worker's own, and a
// page that tolerates no error and no other host.
import { test as base, expect } from "@playwright/test";
import { start } from "./beam.js";

export { expect };

export const test = base.extend({
  beam: [
    async ({}, use) => {
      const beam = await start();
      await use(beam);
      await beam.stop();
    },
    { scope: "worker" },
  ],

  baseURL: async ({ beam }, use) => use(beam.url),

  // tolerated lists what a journey makes the console say on purpose.
  tolerated: [[], { option: true }],

  context: async ({ context, baseURL, tolerated }, use) => {
    const wrong = watch(context, baseURL);
    await use(context);
    expect(wrong.filter((what) => !tolerated.some((pattern) => pattern.test(what)))).toEqual([]);
  },
});

/**
 * watch collects what must not happen in a context: console errors, exceptions,
 * and requests to another host, which are not let through either.
 */
export function watch(context, baseURL) {
  const wrong = [];
  context.on("console", (message) => {
    if (message.type() === "error") wrong.push(`console: ${message.text()}`);
  });
  context.on("weberror", (event) => wrong.push(`exception: ${event.error()?.stack}`));
  context.on("request", (request) => {
    const url = new URL(request.url());
    if (url.protocol.startsWith("http") && url.hostname !== new URL(baseURL).hostname) {
      wrong.push(`request to another host: ${url}`);
    }
  });
  return wrong;
}
