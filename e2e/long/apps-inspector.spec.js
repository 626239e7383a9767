// MCP Inspector's web UI as the chat: a host that we did not write.
import { test, expect } from "../support/fixtures.js";
import { startInspector } from "../support/inspector.js";
import { fillField } from "../support/run-page.js";

// Its own page asks for a font of another host, and its policy lets views load no picture.
test.use({ tolerated: [/^request to another host: https:|^console: Failed to load resource: net::ERR_|^console: Loading the image 'data:image/] });

test("a question is asked in Inspector's frame: pictures are shown, an error is mended, and the run ends", async ({ page, beam }) => {
  const inspector = await startInspector(beam.url);
  try {
    await page.setViewportSize({ width: 1400, height: 1000 });
    await page.goto(inspector.url);
    await page.getByRole("switch").first().click({ force: true });
    await expect(page.getByText("Connected", { exact: true })).toBeVisible();
    await page.getByText("Apps", { exact: true }).first().click();
    const frame = page.frameLocator("iframe").frameLocator("iframe");
    await page.getByText("Kitchen sink", { exact: true }).click();
    await page.getByRole("button", { name: "Open App" }).click();
    await expect(frame.getByRole("img", { name: "A picture" }).and(frame.locator("canvas"))).toBeVisible();
    await page.getByText("Setup wizard", { exact: true }).click(); // which takes no arguments, and so is called at once
    await expect(frame.locator("#title")).toHaveText("Setup wizard");
    const question = frame.locator("[data-ask]");
    await fillField(question, "name", "");
    await question.getByRole("button", { name: "Submit" }).click();
    await expect(question.locator(".field .error")).toHaveText(/^Enter a/);
    await fillField(question, "name", "Ada");
    await question.getByRole("button", { name: "Submit" }).click();
    await expect(question.getByRole("heading")).toHaveText("Which account should Ada get?");
    await question.getByRole("button", { name: "Decline" }).click();
    await expect(frame.locator("#state")).not.toHaveText("waiting for an answer");
    await expect(frame.getByText(/answered through .*app, person not verified/).first()).toBeVisible();
  } finally {
    await inspector.stop();
  }
});
