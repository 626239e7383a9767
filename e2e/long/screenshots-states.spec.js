// Screenshots of the states of a run and of Beam. `make picture` copies one of them to
// docs/beam.png.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test, expect } from "../support/fixtures.js";
import { start } from "../support/beam.js";
import { root } from "../support/build.js";
import { dataset } from "../support/datasets.js";
import { takeScreenshot } from "../support/screenshots.js";
import { askKitchenSink, dialog, expectEnd, field, pressButton, fillField, startRun, stop } from "../support/run-page.js";

test("working, and a question beside what is shown", async ({ page }) => {
  await startRun(page, "countdown", { seconds: "60" });
  await expect(page.getByRole("progressbar")).toBeVisible();
  await takeScreenshot(page, "run-working");
  await stop(page);

  await page.setViewportSize({ width: 1280, height: 800 });
  await startRun(page, "explore_csv");
  await fillField(dialog(page), "file", { path: dataset("seattle-weather.csv") });
  await pressButton(dialog(page), "Submit");
  await expect(field(dialog(page), "columns")).toBeVisible();
  await fillField(dialog(page), "columns", ["precipitation", "wind"]);
  await fillField(dialog(page), "groupBy", "weather");
  await takeScreenshot(page, "run-asking");
  await page.evaluate(() => {
    scrollTo(0, 0);
    document.querySelector("#asks").scrollTop = 0;
  });
  await takeScreenshot(page, "readme");
});

test("finished, with tables of its result", async ({ page }) => {
  await startRun(page, "explore_csv");
  await fillField(dialog(page), "file", { path: dataset("seattle-weather.csv") });
  await pressButton(dialog(page), "Submit");
  await fillField(dialog(page), "columns", ["wind"]);
  await fillField(dialog(page), "groupBy", "weather");
  await pressButton(dialog(page), "Submit");
  await pressButton(dialog(page), "Done");
  await expectEnd(page, "completed");
  await takeScreenshot(page, "run-finished");
});

test("failed, and full lists", async ({ page }) => {
  await startRun(page, "disk_usage", { folder: "missing" });
  await expectEnd(page, "failed");
  await takeScreenshot(page, "run-failed");
  for (const kind of ["text", "select", "confirm", "form"]) await askKitchenSink(page, kind);
  await startRun(page, "burst", { events: "2000" });
  await expectEnd(page, "completed");
  await takeScreenshot(page, "run-many");
  await page.goto("/runs");
  await takeScreenshot(page, "runs-full");
  await page.goto("/runs?state=waiting");
  await takeScreenshot(page, "runs-filter");
  await page.goto("/asks");
  await takeScreenshot(page, "inbox-full");
});

test("the page of a question, open and answered", async ({ page }) => {
  await askKitchenSink(page, "text");
  await expect(dialog(page)).toBeVisible();
  const { asks } = await (await page.request.get(page.url(), { headers: { Accept: "application/json" } })).json();
  await page.goto(`/asks/${asks[0].id}`);
  await takeScreenshot(page, "ask-alone");
  await page.request.post("/mcp/request", { data: { jsonrpc: "2.0", id: asks[0].id, result: { action: "accept", content: { text: "Apollo" } } } });
  await expect(page.getByRole("main")).toContainText("This question was answered");
  await takeScreenshot(page, "ask-alone-answered");
});

test("a destructive confirmation", async ({ page }) => {
  await askKitchenSink(page, "confirm");
  await expect(dialog(page)).toBeVisible();
  // No included photon is destructive: this is what the server renders for one that is.
  const html = readFileSync(join(root, "web/internal/ui/testdata/ask-destructive.html"), "utf8");
  await page.evaluate((html) => {
    const open = document.querySelector("dialog.ask");
    open.outerHTML = html.replaceAll(/ask-[0-9a-f]+-\d+/g, open.id);
  }, html);
  await takeScreenshot(page, "ask-destructive");
});

test.describe("without Beam", () => {
  test.use({ tolerated: [/ERR_|status of 50/] });
  test("interrupted, disconnected, gone, and signed out", async ({ page, context }) => {
    let beam = await start();
    await page.goto(`${beam.url}/`);
    await askKitchenSink(page, "text", beam.url);
    await expect(dialog(page)).toBeVisible();
    await beam.stop();
    await expect(page.locator("#timeline .r-result")).toContainText(/interrupted/i);
    await takeScreenshot(page, "run-interrupted");

    beam = await start();
    await askKitchenSink(page, "form", beam.url);
    await expect(dialog(page)).toBeVisible();
    await beam.kill();
    await expect(page.locator(".away")).toBeVisible();
    await takeScreenshot(page, "run-disconnected");

    const again = await start("--addr", new URL(beam.url).host);
    await expect(page.getByRole("heading", { name: "This run no longer exists" })).toBeVisible();
    await takeScreenshot(page, "run-gone");
    await again.stop();

    const locked = await start("--token", "a token that is long enough to be one");
    await page.goto(`${locked.url}/`);
    await takeScreenshot(page, "sign-in");
    await locked.stop();
    await context.clearCookies();
  });
});
