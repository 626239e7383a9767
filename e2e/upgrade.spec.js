import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expectAccessible } from "./support/axe.js";
import { startProgram } from "./support/beam.js";
import { upgrade as upgradeProgram } from "./support/build.js";
import { test, expect } from "./support/fixtures.js";

test("a program is upgraded three times, once wrongly, and nothing is lost", async ({ browser }) => {
  const data = mkdtempSync(join(tmpdir(), "upgrade-"));
  const run = (version, addr) => startProgram(upgradeProgram(version), "--data", data, ...(addr ? ["--addr", addr] : []));
  let beam = await run("first");
  const { listens, url } = beam;
  const upgrade = async (version) => { await beam.stop(); beam = await run(version, listens); };
  const context = await browser.newContext();
  const page = await context.newPage();
  await page.goto(`${url}/photons/deploy`);
  await page.getByRole("textbox", { name: "env" }).fill("prod");
  await page.getByRole("button", { name: "Run" }).click();
  const question = page.getByRole("dialog").filter({ hasText: "Who approves prod?" });
  await expect(question.getByRole("button", { name: "Submit" })).toBeVisible();
  await upgrade("second");
  await upgrade("wrong"); // the open page learns of it
  await expect(question).toContainText("Nobody can answer this now, because its run is parked");
  await expect(question.getByRole("button", { name: /Submit|Decline|Dismiss/ })).toHaveCount(0);
  await expect(page.getByRole("button", { name: "Stop" })).toBeVisible();
  await expectAccessible(page);
  const inbox = await context.newPage();
  await inbox.goto(`${url}/asks`);
  await expect(inbox.getByText("Nobody can answer this now")).toBeVisible();
  await expect(inbox.getByRole("link", { name: /^Answer/ })).toHaveCount(0);
  await expectAccessible(inbox);
  await upgrade("second");
  await question.getByRole("textbox").fill("Ada");
  await question.getByRole("button", { name: "Submit" }).click();
  await expect(page.getByText("Who is told?").first()).toBeVisible();
  await context.close();
  await beam.stop();
});
