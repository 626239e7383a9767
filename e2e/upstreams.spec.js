// Operators see their upstreams: other MCP servers, whose tools are photons.
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { test as base, expect } from "./support/fixtures.js";
import { expectAccessible } from "./support/axe.js";
import { start } from "./support/beam.js";
import { connectTo } from "./support/mcp-clients.js";
import { dialog, expectEnd, fillField, pressButton, result } from "./support/run-page.js";
import { takeScreenshot } from "./support/screenshots.js";

const beamProgram = path.resolve(process.env.BEAM);

// What was accepted of a tool that has changed since.
const accepted = {
  test__ask_text: {
    digest: "0".repeat(64),
    definition: { description: "Asks for a text.", inputSchema: { type: "object" } },
    since: "2026-01-02T03:04:05Z",
  },
};

// upstreams is a Beam with an upstream that works and holds a tool back, and one that
// can't be started, and a page that is signed in as its operator.
const test = base.extend({
  tolerated: [/status of 404/], // of a tool that is held back
  upstreams: async ({ page }, use) => {
    const data = mkdtempSync(path.join(tmpdir(), "beam-upstreams-"));
    const upstream = (...args) => execFileSync(beamProgram, ["upstream", ...args.toSpliced(1, 0, "--data", data)], { encoding: "utf8" });
    upstream("add", "--allow", "ask_text,ask_confirm,change_tools,added", "test", "--", beamProgram, "test-server");
    upstream("add", "gone", "--", "no-such-command");
    mkdirSync(path.join(data, "upstreams"), { mode: 0o700 });
    writeFileSync(path.join(data, "upstreams", "test.json"), JSON.stringify(accepted), { mode: 0o600 });
    const beam = await start("--data", data);
    try {
      await page.goto(beam.signIn);
      await use({ url: beam.url, upstream });
    } finally {
      await page.goto("about:blank");
      await beam.stop();
      rmSync(data, { recursive: true });
    }
  },
});

const narrow = { width: 320, height: 640 };
const expectNoOverflow = (page) => expect.poll(() => page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth)).toBeLessThanOrEqual(0);

test("upstreams are listed with what they do, and a tool of one is run", async ({ page, upstreams }) => {
  await page.getByRole("link", { name: "Upstreams" }).click();
  const list = page.locator("#list");
  await expect(list.getByRole("listitem").filter({ hasText: "test-server" })).toContainText("Connected");
  await expect(list.getByRole("listitem").filter({ hasText: "no-such-command" })).toContainText("executable file not found");
  await expectAccessible(page);
  await takeScreenshot(page, "upstreams");
  await page.setViewportSize(narrow);
  await expectNoOverflow(page);

  await list.getByRole("link", { name: "test", exact: true }).click();
  await expect(page.getByRole("heading", { name: "test", exact: true })).toBeVisible();
  await expectNoOverflow(page);
  await page.getByRole("region", { name: "Tools" }).getByRole("link", { name: "ask_confirm" }).click();
  await page.getByRole("button", { name: "Run", exact: true }).click();
  await expect(dialog(page)).toBeVisible();
  await pressButton(dialog(page), "Decline");
  await expectEnd(page, "completed");
});

test("a client's call has its messages as they went, on both sides, and is made again", async ({ page, upstreams }) => {
  await page.goto(`${upstreams.url}/upstreams`);
  await expect(page.locator("#list").getByRole("listitem").filter({ hasText: "test-server" })).toContainText("Connected");
  const client = await connectTo(upstreams.url, () => ({ action: "accept", content: { confirm: true } }));
  await client.callTool({ name: "test__ask_confirm", arguments: {} });
  await client.close();

  await page.goto(`${upstreams.url}/runs`);
  await page.getByRole("main").locator('a[href^="/runs/"]').first().click();
  await page.getByRole("link", { name: "Messages" }).click();
  const rows = page.locator(".messages > li");
  await expect(rows).toHaveCount(8);
  await expect(rows.first()).toContainText("from the client:");
  await expect(rows.first()).toContainText("tools/call");
  await expectAccessible(page);
  await page.getByLabel("Side").selectOption("upstream");
  await page.getByRole("button", { name: "Filter" }).click();
  await expect(rows).toHaveCount(4);
  await expect(rows.nth(2)).toContainText("to the upstream:");
  await expect(rows.nth(2)).toContainText("accept");
  await takeScreenshot(page, "messages");
  await page.getByRole("link", { name: "Derived from the log" }).click();
  await expect(rows).toHaveCount(4);
  await expect(rows.last()).toContainText("completed");
  await page.getByRole("link", { name: "As they went" }).click();
  await expect(rows).toHaveCount(8);

  await rows.first().locator("summary").click();
  await rows.first().getByRole("button", { name: "Call again" }).click();
  await pressButton(dialog(page), "Decline");
  await expectEnd(page, "completed");
});

test("a tool that changed is held back until an operator has seen how and accepts it", async ({ page, upstreams }) => {
  await page.goto(`${upstreams.url}/upstreams/test`);
  const held = page.getByRole("article", { name: "ask_text" });
  await expect(held).toContainText("Asks for a text.");
  await expect(page.getByRole("region", { name: "Tools" }).getByText("ask_text")).toHaveCount(0);
  expect((await page.goto(`${upstreams.url}/photons/test__ask_text`)).status()).toBe(404);
  await expect(page.getByRole("main")).toContainText("test__ask_text is held back. It changed since it was accepted.");
  await expectAccessible(page);
  await page.getByRole("link", { name: "Review what changed" }).click();
  await expectAccessible(page);
  await takeScreenshot(page, "upstream");

  await held.getByRole("button", { name: /Accept/ }).focus();
  await page.keyboard.press("Enter");
  await expect(page.getByRole("heading", { name: "Held back" })).toHaveCount(0);
  await page.getByRole("region", { name: "Tools" }).getByRole("link", { name: "ask_text" }).click();
  await page.getByRole("button", { name: "Run", exact: true }).click();
  await fillField(dialog(page), "text", "Ada");
  await pressButton(dialog(page), "Submit");
  await expectEnd(page, "completed");
  await expect(result(page)).toContainText("Ada");
});

test("an open page follows what changes, and an upstream is removed there", async ({ page, upstreams }) => {
  await page.goto(`${upstreams.url}/upstreams`);
  const list = page.locator("#list");
  await expect(list.getByRole("listitem")).toHaveCount(2);
  await expect(list.getByRole("listitem").filter({ hasText: "test-server" })).toContainText("Connected");
  upstreams.upstream("remove", "gone");
  await expect(list.getByRole("listitem")).toHaveCount(1);

  await list.getByRole("link", { name: "test", exact: true }).click();
  await page.getByRole("button", { name: "Reconnect" }).click();
  await expect(page.locator(".upstream-head")).toContainText("Connected");
  await expect(page.getByRole("region", { name: "Latest errors" })).toContainText("the operator asked to reconnect");
  await page.getByText("Remove this upstream").click();
  await page.getByRole("button", { name: "Remove test" }).click();
  await expect(page.getByText("No upstreams yet.")).toBeVisible();
  await expect(page.getByText("beam upstream add NAME -- COMMAND ARGS…")).toBeVisible();
  await expect(page.getByText("beam --mcp-config FILE")).toBeVisible();
  await expectAccessible(page);
});

test("a browser that isn't signed in sees no configuration", async ({ page, upstreams, browser }) => {
  const other = await browser.newContext();
  try {
    const stranger = await other.newPage();
    await stranger.goto(upstreams.url);
    await expect(stranger.getByRole("link", { name: "Upstreams" })).toHaveCount(0);
    expect((await stranger.goto(`${upstreams.url}/upstreams/test`)).status()).toBe(403);
  } finally {
    await other.close();
  }
});
