// A program in a module of its own.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test, expect } from "../support/fixtures.js";
import { startProgram } from "../support/beam.js";
import { root } from "../support/build.js";
import { makeModule } from "../support/module.js";
import { dialog, fillField, pressButton, result } from "../support/run-page.js";

test("a program in another module gets the live page by one line", async ({ page }) => {
  test.setTimeout(900_000); // it is built twice
  const source = readFileSync(join(root, "examples/hello/main.go"), "utf8");
  const module = makeModule(source);
  let beam;
  try {
    const line = await test.step("without it, pages are plain, and a message names it", async () => {
      await module.go("build", "-o", "hello", ".");
      beam = await startProgram(module.program);
      await expect.poll(beam.output).toContain("The pages are plain");
      await page.goto(`${beam.url}/photons/hello`);
      await expect(page.getByRole("button", { name: "Run", exact: true })).toBeVisible();
      expect(await page.locator('script[src*="datastar"]').count()).toBe(0);
      return beam.output().match(/\/\/go:generate go run [\w./-]+/)[0];
    });
    await beam.stop();

    await test.step("with it, a question is answered on the page that asked it", async () => {
      module.write(source.replace("package main\n", `package main\n\n${line}\n`));
      await module.go("generate", ".");
      await module.go("build", "-o", "hello", ".");
      beam = await startProgram(module.program);
      await page.goto(`${beam.url}/photons/hello`);
      expect(beam.output()).not.toContain("plain");
      await pressButton(page, "Run");
      await expect(dialog(page)).toContainText("Who is there?");
      await page.evaluate(() => (window.unloaded = false)); // gone with the document
      await fillField(dialog(page), "name", "Ada");
      await pressButton(dialog(page), "Submit");
      await expect(result(page)).toContainText("Hello, Ada!");
      expect(await page.evaluate(() => window.unloaded)).toBe(false);
    });
  } finally {
    await page.goto("about:blank");
    await beam?.stop();
    module.remove();
  }
});
