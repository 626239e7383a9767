// A person at a terminal and one in the browser are asked the same questions: the first
// answer wins, and the other side learns of it.
import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { test as base, expect } from "./support/fixtures.js";
import { start } from "./support/beam.js";
import { dialog, expectResult, field, fillField, pressButton } from "./support/run-page.js";
import { hasTmux, openTerminal } from "./support/terminal.js";

// The terminal joins the Beam that owns the data folder.
const test = base.extend({
  data: [
    async ({}, use) => {
      const folder = await mkdtemp(join(tmpdir(), "beam-data-"));
      await use(folder);
      await rm(folder, { recursive: true });
    },
    { scope: "worker" },
  ],
  beam: [
    async ({ data }, use) => {
      const beam = await start("--data", data);
      await use(beam);
      await beam.stop();
    },
    { scope: "worker" },
  ],
  terminal: async ({}, use) => {
    test.skip(!(await hasTmux()), "tmux is not installed");
    const terminal = await openTerminal();
    await use(terminal);
    await terminal.close();
  },
  // run starts a photon in the terminal, and opens its run's page once it asks.
  run: async ({ page, beam, data, terminal }, use) => {
    await use(async (photon, question) => {
      await terminal.enter(`${process.env.BEAM} run --data ${data} ${photon}; echo status $?`);
      await terminal.expect(question);
      await terminal.expect(/esc: /);
      await page.goto(new URL("/asks", beam.url).href);
      await page.getByRole("main").locator('a[href^="/runs/"]').first().click();
      await page.waitForURL(/\/runs\/[^/]+$/); // and until its script has run
      await expect(dialog(page)).toBeVisible();
    });
  },
});

test.describe.configure({ mode: "serial" }); // the inbox has the question of one run

// The terminal's runs are the operator's.
test.beforeEach(async ({ page, beam, data }) => {
  expect(beam.url).toBeTruthy();
  const { stdout } = await promisify(execFile)(process.env.BEAM, ["open", "--print", "--data", data]);
  await page.goto(stdout.trim());
});

test("a run is answered half in the terminal and half in the browser", async ({ page, run, terminal }) => {
  await run("wizard", /What is your name\?/);
  await terminal.enter("Ada");
  await terminal.expect(/✓ What is your name\? Ada/);

  await terminal.expect(/email/i);
  await fillField(dialog(page), "email", "ada@example.org");
  await fillField(dialog(page), "role", "editor");
  await pressButton(dialog(page), "Submit");
  await terminal.expect(/✓ Which account[^]*ada@example\.org[^]*\(browser/);

  await terminal.expect(/Confirm +\[Reject\][^]*esc: /); // takes keys
  await terminal.press("y");
  await terminal.expect(/status 0/);
  await expectResult(page, { name: "Ada", email: "ada@example.org", role: "editor", confirmed: true });
});

test("the browser is first, and the form leaves the terminal", async ({ page, run, terminal }) => {
  await run("kitchen_sink --ask integer", /esc: /);
  await terminal.type("4");
  await terminal.expect(/> 4/);
  await fillField(dialog(page), "integer", 7);
  await pressButton(dialog(page), "Submit");
  await terminal.expect(/✓ .* 7 \(browser/);
  await terminal.expect(/status 0/);
  expect(await terminal.screen()).not.toMatch(/esc: |> 4/);
});

test("the terminal is first, and the question closes in the browser", async ({ page, run, terminal }) => {
  await run("kitchen_sink --ask integer", /esc: /);
  await fillField(dialog(page), "integer", 7);
  await terminal.enter("4");
  await terminal.expect(/✓ .* 4/);
  await expect(page.getByRole("main")).toContainText("This question was answered at the terminal");
  await expectResult(page, { answer: 4 });
});

test("both answer at once, and agree on who was first", async ({ page, run, terminal }) => {
  await run("kitchen_sink --ask integer", /esc: /);
  await terminal.type("4");
  await fillField(dialog(page), "integer", 7);
  await field(dialog(page), "integer").focus();
  await Promise.all([terminal.press("Enter"), page.keyboard.press("Enter")]);
  await terminal.expect(/status 0/);
  const [, answer] = (await terminal.screen()).match(/✓ .* (4|7)( \(browser.*\))?$/m);
  await expectResult(page, { answer: Number(answer) });
});
