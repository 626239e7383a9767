// Forms of tools with nested input, and the JSON beside them.
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { test as base, expect, untilOffered } from "./support/fixtures.js";
import { expectAccessible } from "./support/axe.js";
import { start } from "./support/beam.js";
import { copyWith, expectError, field, fillField, result } from "./support/run-page.js";

const server = fileURLToPath(new URL("support/tool-server.js", import.meta.url));

// Beam with an upstream, whose tool is deploy.
const test = base.extend({
  beam: [
    async ({}, use) => {
      const folder = await mkdtemp(join(tmpdir(), "beam-forms-"));
      const config = join(folder, "mcp.json");
      await writeFile(config, JSON.stringify({ mcpServers: { tools: { command: process.execPath, args: [server] } } }));
      const beam = await start("--mcp-config", config);
      await untilOffered(beam, "tools__deploy");
      await use(beam);
      await beam.stop();
      await rm(folder, { recursive: true });
    },
    { scope: "worker" },
  ],
  tolerated: [/status of 422/], // a rejected form is a page with that status
});

const main = (page) => page.getByRole("main");
const press = (page, name) => main(page).getByRole("button", { name, exact: true }).click();
const json = (page) => page.getByLabel("Arguments as JSON");
const expectJSON = (page, want) => expect.poll(async () => JSON.parse(await json(page).inputValue())).toEqual(want);

/** openForm opens the form of the upstream's tool. */
const openForm = (page) => page.goto("/photons/tools__deploy");

test("nested fields and rows become JSON, with the focus where the person continues", async ({ page }) => {
  await openForm(page);
  await expect(json(page)).toHaveValue(/"servers"/);
  await fillField(main(page), "title", "Shop");
  await fillField(main(page), "contact/phone", "1");
  await expectJSON(page, { title: "Shop", contact: { phone: "1" }, servers: [{}] });

  // From the keyboard.
  await field(main(page), "servers/0/host").focus();
  await page.keyboard.type("a.example");
  await main(page).getByRole("button", { name: "Add server" }).focus();
  await page.keyboard.press("Enter");
  await expect(field(main(page), "servers/1/host")).toBeFocused();
  await expect(page.getByRole("status")).toHaveText("Server 2 added");
  await page.keyboard.type("b.example");
  await press(page, "Move Server 2 up");
  await expect(main(page).getByRole("button", { name: "Move Server 1 down" })).toBeFocused();
  await expect(field(main(page), "servers/0/host")).toHaveValue("b.example");
  await press(page, "Add label");
  await expect(field(main(page), "labels~k0")).toBeFocused();
  await page.keyboard.type("team");
  await fillField(main(page), "labels~v0", "web");
  await press(page, "Add group");
  await press(page, "Add parent");
  await fillField(main(page), "group/parent/name", "All");
  await expectJSON(page, { title: "Shop", contact: { phone: "1" }, servers: [{ host: "b.example" }, { host: "a.example" }], labels: { team: "web" }, group: { parent: { name: "All" } } });
  await press(page, "Remove Server 2");
  await expect(main(page).getByRole("button", { name: "Remove Server 1" })).toBeFocused();
  await fillField(main(page), "servers/0/port", "70000");

  await press(page, "Run");
  await expectError(main(page), "contact/email", /Enter an email$/);
  await expectError(main(page), "servers/0/port", /from 1 to 65535$/);
  await expect(main(page).getByRole("alert")).toContainText("Servers › Server 1 › Enter a port from 1 to 65535");
  await expect(main(page).locator(".json-errors")).toContainText("/servers/0/port");
  await expect(field(main(page), "labels~k0")).toHaveValue("team");
  await fillField(main(page), "contact/email", "ada@example.org");
  await fillField(main(page), "servers/0/port", "");
  await press(page, "Run");
  await expect(page).toHaveURL(/\/runs\/[0-9a-f]+$/);
  await expect(result(page)).toContainText("ada@example.org");
  await page.getByRole("link", { name: /^Edit/ }).click();
  await expect(field(main(page), "group/parent/name")).toHaveValue("All");
});

test("the form follows the JSON, variants and conditions", async ({ page, context }) => {
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  await openForm(page);
  await field(main(page), "source~variant").selectOption("Git");
  await expect(field(main(page), "source/ref")).toHaveValue("main");
  await fillField(main(page), "source/url", "https://example.org/a");
  await expect(json(page)).toHaveValue(/"kind": "git"/);
  await field(main(page), "source~variant").selectOption("Archive");
  await main(page).getByLabel("Choose a file for Data").setInputFiles({ name: "a", mimeType: "text/plain", buffer: Buffer.from("Beam") });
  await expect(field(main(page), "source/data")).toHaveValue("QmVhbQ==");
  await expect(json(page)).toHaveValue(/"QmVhbQ=="/);

  await json(page).fill('{"title": "From JSON", "servers": [{"host": "x", "tags": ["a"');
  await expect(main(page).locator(".json-errors")).toContainText("This isn’t JSON yet");
  const args = { title: "From JSON", contact: { email: "a@b.cd" }, servers: [{ host: "x", tags: ["a", "b"] }], source: { kind: "git", url: "https://example.org/b" }, limits: { cpu: 0.5 } };
  await json(page).fill(JSON.stringify(args));
  await expect(field(main(page), "servers/0/tags/1")).toHaveValue("b");
  await expect(field(main(page), "source/url")).toHaveValue("https://example.org/b");
  await expect(field(main(page), "limits/cpu")).toHaveValue("0.5");
  await expect(json(page)).toBeFocused();
  await expect(main(page).locator(".json-errors")).toBeEmpty();
  await copyWith(page.getByRole("button", { name: "Copy", exact: true }));
  expect(JSON.parse(await page.evaluate(() => navigator.clipboard.readText()))).toEqual(args);

  await fillField(main(page), "title", "Both");
  await expectJSON(page, { ...args, title: "Both" });
  await main(page).getByLabel("Urgent").check();
  await field(main(page), "reason").fill("Now");
  await expectJSON(page, { ...args, title: "Both", urgent: true, reason: "Now" });
  await expect(field(main(page), "reason")).toBeFocused();
  await expectAccessible(page);
  await page.setViewportSize({ width: 320, height: 640 });
  await expect(json(page)).toBeHidden();
  await expectAccessible(page);
  await expect.poll(() => page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(320);
  await main(page).getByRole("radio", { name: "JSON" }).focus();
  await page.keyboard.press("Space");
  await expect(json(page)).toBeVisible();
  await expect(field(main(page), "title")).toBeHidden();
  await expectAccessible(page);
  await json(page).fill(JSON.stringify({ ...args, title: "Last" }));
  await press(page, "Run");
  await expect(result(page)).toContainText("Last");
});

test("what a variant had comes back when it is chosen again", async ({ page }) => {
  await openForm(page);
  const choose = (title) => field(main(page), "source~variant").selectOption(title);
  await fillField(main(page), "title", "Shop");
  await choose("Git");
  await fillField(main(page), "source/note", "first");
  await fillField(main(page), "source/url", "https://example.org/a");
  await fillField(main(page), "source/ref", "next");
  await choose("Archive");
  await expect(field(main(page), "source/ref")).toHaveCount(0);
  await fillField(main(page), "source/data", "QmVhbQ==");
  await fillField(main(page), "source/note", "second");
  await expect(json(page)).toHaveValue(/"QmVhbQ=="/);
  await choose("Git");
  await expect(field(main(page), "source/url")).toHaveValue("https://example.org/a");
  await expect(field(main(page), "source/ref")).toHaveValue("next");
  await expect(field(main(page), "source/note")).toHaveValue("second"); // which both have
  const args = { title: "Shop", contact: {}, servers: [{}] };
  await expectJSON(page, { ...args, source: { kind: "git", url: "https://example.org/a", ref: "next", note: "second" } });
  await choose("Archive");
  await expectJSON(page, { ...args, source: { kind: "archive", data: "QmVhbQ==", note: "second" } });

  // Also if the JSON chose the other one.
  await json(page).fill(JSON.stringify({ ...args, source: { kind: "git", url: "https://example.org/b" } }));
  await expect(field(main(page), "source/url")).toHaveValue("https://example.org/b");
  await choose("Archive");
  await expectJSON(page, { ...args, source: { kind: "archive", data: "QmVhbQ==" } });
  await choose("Git");
  await expectJSON(page, { ...args, source: { kind: "git", url: "https://example.org/b" } });
  await choose("No choice");
  await expectJSON(page, args);
  await choose("Git");
  await expect(field(main(page), "source/url")).toHaveValue("https://example.org/b");
});

test("formats of another server's schema are checked as those of photons are", async ({ page }) => {
  await openForm(page);
  const args = { title: "Shop", contact: { email: "ada" }, servers: [{ host: "a" }], source: { kind: "git", url: "example" }, day: "soon" };
  await json(page).fill(JSON.stringify(args));
  await expect(field(main(page), "source/url")).toHaveValue("example");
  await press(page, "Run");
  await expectError(main(page), "contact/email", "Enter an email, such as ada@example.org");
  await expectError(main(page), "source/url", "Enter an address, such as https://example.org/page");
  await expect(main(page).getByRole("alert")).toContainText("Enter a day, such as 2026-12-31");
  await expect(main(page).locator(".json-errors")).toContainText("/contact/email");
});

test.describe("without script", () => {
  test.use({ javaScriptEnabled: false });

  test("rows are added by buttons, and the JSON is filled in and run", async ({ page }) => {
    await openForm(page);
    await fillField(main(page), "title", "S");
    await press(page, "Add server");
    await fillField(main(page), "servers/1/host", "b");
    await field(main(page), "source~variant").selectOption("Git");
    await main(page).locator(".variants").getByRole("button", { name: "Update the form" }).click();
    await fillField(main(page), "source/url", "https://example.org");
    await press(page, "Run");
    await expectError(main(page), "title", /at least 2 characters/);
    await expect(field(main(page), "servers/1/host")).toHaveValue("b");
    await fillField(main(page), "title", "Shop");
    await fillField(main(page), "servers/0/host", "a");
    await fillField(main(page), "contact/email", "ada@example.org");
    await press(page, "Write the form as JSON");
    const args = JSON.parse(await json(page).inputValue());
    expect(args.servers).toEqual([{ host: "a" }, { host: "b" }]);
    await json(page).fill(JSON.stringify({ ...args, title: "Via JSON" }));
    await press(page, "Fill the form with this JSON");
    await expect(field(main(page), "title")).toHaveValue("Via JSON");
    await json(page).fill(JSON.stringify({ ...args, title: "Run as JSON" }));
    await press(page, "Run this JSON");
    await expect(page).toHaveURL(/\/runs\/[0-9a-f]+$/);
    await expect(async () => {
      await page.reload();
      await expect(result(page)).toContainText("Run as JSON", { timeout: 500 });
    }).toPass();
  });
});
