// Every page, and the states that pages can be in, are accessible, fit a narrow screen,
// and are small. What needs a certain setting is looked at where that is tested:
// questions in asks.spec.js, approvals in sampling.spec.js, people in team.spec.js.
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expectAccessible, expectTargets } from "./support/axe.js";
import { start } from "./support/beam.js";
import { test as base, expect, untilOffered } from "./support/fixtures.js";
import { startModelServer } from "./support/model-server.js";
import { loadedBytes } from "./support/page-timing.js";
import { askKitchenSink, dialog, expectEnd, pressButton } from "./support/run-page.js";

// A Beam with a model and two upstreams, of which one can't be started, and a page that is
// signed in as its operator.
const test = base.extend({
  beam: [
    async ({}, use) => {
      const folder = await mkdtemp(join(tmpdir(), "beam-pages-"));
      const config = join(folder, "mcp.json");
      await writeFile(config, JSON.stringify({ mcpServers: { test: { command: process.env.BEAM, args: ["test-server"] }, gone: { command: "no-such-command" } } }));
      const models = await startModelServer();
      const beam = await start("--mcp-config", config, "--models", models.models);
      await untilOffered(beam, "test__ask_user_preferences");
      await use(beam);
      await beam.stop();
      await models.stop();
      await rm(folder, { recursive: true });
    },
    { scope: "worker" },
  ],
  tolerated: [/status of 40[34]/], // of error pages
});

const narrow = { width: 320, height: 640 };
const wide = { width: 1280, height: 800 };

/** expectGood expects what every page should be. */
async function expectGood(page) {
  await expectAccessible(page);
  if (!test.info().project.metadata.colors.includes("light")) return;
  await page.setViewportSize(narrow);
  await expect.soft.poll(() => page.evaluate(tooWide), "wider than a narrow screen").toEqual([]);
  await expectTargets(page);
  await page.setViewportSize(wide);
}

/** tooWide returns some of what makes a page wider than its window. It runs in the page. */
function tooWide() {
  if (document.documentElement.scrollWidth <= innerWidth) return [];
  const wide = [...document.querySelectorAll("main *, header *")].filter((e) => e.getBoundingClientRect().right > innerWidth);
  return wide.slice(0, 3).map((e) => e.outerHTML.slice(0, 200));
}

const pages = {
  "the pages of photons, runs and questions": [
    "/", "/?q=nothing+like+it", "/photons/summarize", "/photons/summarize/connect", "/photons/summarize/api", "/photons/book_dinner",
    "/runs", "/runs?state=failed", "/asks",
  ],
  "the pages about Beam": [
    "/settings", "/models", "/upstreams", "/upstreams/test", "/upstreams/gone", "/photons/test__ask_user_preferences", "/docs", "/docs/photons", "/docs?q=key", "/docs?q=nothing+like+it",
  ],
  "the pages of a search, and those of errors": [
    "/find?q=csv", "/find?q=nothing+like+it", "/login", "/nothing", "/photons/nothing", "/runs/0000000000000000000000000000dead", "/asks/0000000000000000000000000000dead-1",
  ],
};

for (const [what, paths] of Object.entries(pages)) {
  test(`${what} are accessible, narrow and small`, { tag: paths.includes("/") ? [] : "@long" }, async ({ page, beam }) => {
    test.slow(); // these are many
    await page.goto(beam.signIn);
    for (const path of paths) {
      await test.step(path, async () => {
        const bytes = await loadedBytes(page, path);
        expect.soft(bytes, "compressed, with all that it loads").toBeLessThan(80_000);
        await expect(page.locator("h1").first()).toBeVisible();
        await expectGood(page);
      });
    }
  });
}

test("what opens on a page, and a run's pages, are accessible and narrow", async ({ page, beam, context }) => {
  test.slow(); // these are many
  await page.goto(beam.signIn);
  const step = (name, open) => test.step(name, async () => {
    await open();
    await expectGood(page);
  });
  await step("the palette", async () => {
    await page.goto("/");
    await page.keyboard.press("Control+k");
    await expect(page.getByRole("combobox", { name: "Pages, photons, questions and runs" })).toBeFocused();
    await page.keyboard.type("csv");
    await expect(page.getByRole("option").first()).toBeVisible();
  });
  await step("the palette without a hit", async () => {
    await page.keyboard.type(" and nothing like it");
    await expect(page.locator("#palette-status")).toHaveText("Nothing matches.");
  });
  await page.keyboard.press("Escape");
  await step("the shortcuts", async () => {
    await page.getByRole("button", { name: "Keyboard shortcuts" }).click();
    await expect(page.getByRole("dialog", { name: "Keyboard shortcuts" })).toBeVisible();
  });
  await page.keyboard.press("Escape");

  await askKitchenSink(page, "form");
  await expect(dialog(page)).toBeVisible();
  const run = page.url();
  await step("the messages of a run that waits", async () => {
    await page.goto(`${run}/messages`);
    await expect(page.locator(".messages > li").first()).toBeVisible();
  });
  await step("the lists and the sidebar with a run", () => page.goto("/runs"));
  await step("the filters", () => page.getByText("More filters").click());
  await step("the inbox", () => page.goto("/asks"));
  await step("a question in the inbox, and its errors", async () => {
    await page.getByRole("link", { name: /^Answer/ }).click();
    await pressButton(page.locator(".in-place"), "Submit");
    await expect(page.locator('.in-place [aria-invalid="true"]').first()).toBeVisible();
  });
  await page.goto(run);
  await pressButton(dialog(page), "Later");
  await step("the confirmation of a stop", async () => {
    await page.keyboard.press("s");
    await expect(page.getByRole("dialog", { name: "Stop this run?" })).toBeVisible();
  });
  await page.getByRole("button", { name: "Stop the run" }).click();
  await expectEnd(page, "stopped");
  await step("the deletion of a run", () => page.goto(`${run}/delete`));
  await step("an exported run", async () => {
    const exported = await context.request.get(`${run}/export?format=html`);
    await page.goto("about:blank");
    await page.setContent(await exported.text());
    await expect(page.getByRole("heading", { level: 1 })).toHaveText("Kitchen sink");
  });
});
