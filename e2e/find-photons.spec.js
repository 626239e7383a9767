// Photons are found by typing, also where upstreams have more tools than a page lists.
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expectAccessible } from "./support/axe.js";
import { start } from "./support/beam.js";
import { test as base, expect, untilOffered } from "./support/fixtures.js";

// A Beam with two upstreams of 60 tools each, and a page that is signed in as its operator.
const test = base.extend({
  beam: [
    async ({}, use) => {
      const folder = await mkdtemp(join(tmpdir(), "beam-find-"));
      const config = join(folder, "mcp.json");
      const server = { command: process.execPath, args: [join(import.meta.dirname, "support", "tool-server.js"), "60"] };
      await writeFile(config, JSON.stringify({ mcpServers: { east: server, west: server } }));
      const beam = await start("--mcp-config", config);
      for (const name of ["east", "west"]) await untilOffered(beam, `${name}__deploy`);
      await use(beam);
      await beam.stop();
      await rm(folder, { recursive: true });
    },
    { scope: "worker" },
  ],
});

const names = (page) => page.locator("#photons .cards code");

test("typing finds photons and tools on all pages of the list", async ({ page, beam }) => {
  await page.goto(beam.signIn);
  await page.goto("/");
  await expect(names(page)).toHaveCount(50);
  await page.getByRole("link", { name: "More photons" }).click();
  await expect(page.getByRole("link", { name: "First photons" })).toBeVisible();

  const box = page.getByRole("searchbox", { name: "Find a photon" });
  await box.pressSequentially("west tool 41");
  await expect(names(page)).toHaveText(["west__tool_41"]); // of the third page
  await expect(page).toHaveURL(/\/\?q=west%20tool%2041$/);
  await expect(page.getByRole("status").filter({ hasText: "1 photon matches “west tool 41”" })).toBeVisible();
  await expect(box).toBeFocused();
  await expectAccessible(page);

  await box.fill("countdown");
  await expect(names(page)).toHaveText(["countdown"]);
  await box.fill("tool");
  await expect(page.getByRole("link", { name: "More photons" })).toHaveAttribute("href", /q=tool/);
  await box.fill("nothing like it");
  await expect(page.getByRole("main")).toContainText("No photon’s name or description matches.");
  await expectAccessible(page);
  await page.reload();
  await expect(box).toHaveValue("nothing like it");
  await box.fill("");
  await expect(names(page)).toHaveCount(50);
  await expect(page).toHaveURL(/\/$/);
});

test.describe("without script", () => {
  test.use({ javaScriptEnabled: false });

  test("Enter finds them", async ({ page, beam }) => {
    await page.goto(beam.signIn);
    await page.goto("/");
    await page.getByRole("searchbox", { name: "Find a photon" }).fill("west tool 41");
    await page.keyboard.press("Enter");
    await expect(names(page)).toHaveText(["west__tool_41"]);
  });
});
