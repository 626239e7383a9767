// Tools of other people's servers, run from their forms in the browser.
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { prepare } from "../interop/upstreams.js";
import { test as base, expect, untilOffered } from "./support/fixtures.js";
import { start } from "./support/beam.js";
import { dialog, expectEnd, fillField, pressButton } from "./support/run-page.js";

// A worker's Beam has the servers as upstreams, and the test server of Beam itself.
const test = base.extend({
  upstreams: [
    async ({}, use) => {
      const upstreams = await prepare();
      upstreams.servers.test = { command: process.env.BEAM, args: ["test-server"] };
      await use(upstreams);
      await upstreams.remove();
    },
    { scope: "worker" },
  ],
  beam: [
    async ({ upstreams }, use) => {
      const folder = await mkdtemp(join(tmpdir(), "beam-e2e-"));
      const file = join(folder, "servers.json");
      await writeFile(file, JSON.stringify({ mcpServers: upstreams.servers }));
      const beam = await start("--mcp-config", file);
      await use(beam);
      await beam.stop();
      await rm(folder, { recursive: true });
    },
    { scope: "worker" },
  ],
});

const main = (page) => page.getByRole("main");

/** runTool runs a tool with arguments, from the JSON beside its form. */
async function runTool(page, beam, photon, args) {
  await untilOffered(beam, photon);
  await page.goto(`/photons/${photon}`);
  const json = page.getByLabel("Arguments as JSON");
  if (Object.keys(args).length) {
    await json.fill(JSON.stringify(args));
    await json.blur();
  }
  await main(page).getByRole("button", { name: "Run", exact: true }).click();
  await page.waitForURL(/\/runs\/[^/]+$/); // and until its script has run
}

/** What a person does about the question of a tool that asks. */
const answers = {
  "trigger-elicitation-request": async (page) => {
    await fillField(dialog(page), "name", "Ada");
    await pressButton(dialog(page), "Submit");
  },
  deploy: async (page) => {
    await fillField(dialog(page), "name", "Ada");
    await pressButton(dialog(page), "Submit");
  },
  "trigger-url-elicitation": (page) => pressButton(dialog(page), "I haven’t opened it; continue anyway"),
};

/** Tools that are tested elsewhere. */
const left = {
  "get-roots-list": "only a client has roots",
  "trigger-sampling-request": "sampling.spec.js approves requests to models",
};

test("the test server's preferences are asked in the browser", async ({ page, beam }) => {
  await runTool(page, beam, "test__ask_user_preferences", {});
  await fillField(dialog(page), "outputFormat", "markdown");
  await pressButton(dialog(page), "Submit");
  await expectEnd(page, "completed");
  await expect(main(page)).toContainText('"outputFormat": "markdown"');
  await expect(main(page)).toContainText('"includeTimestamps": true');
});

for (const server of ["everything", "files", "memory", "sdk2"]) {
  test(`every tool of ${server} runs from the browser`, { tag: "@long" }, async ({ page, beam, upstreams }) => {
    for (const [tool, args] of upstreams.calls[server]) {
      if (left[tool]) continue;
      await test.step(tool, async () => {
        await runTool(page, beam, `${server}__${tool}`, args);
        await answers[tool]?.(page);
        await expectEnd(page, args.path === "/etc/passwd" ? "failed" : "completed");
      });
    }
  });
}
