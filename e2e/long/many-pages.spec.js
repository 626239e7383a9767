// Eight open pages of one browser. With HTTP/1.1 a browser opens at most six connections
// to a host, so not every page can keep a stream.
import { test, expect } from "../support/fixtures.js";
import { dialog, expectEnd, pressButton, result, fillField, startRun, stop } from "../support/run-page.js";

const photons = ["wizard", "wizard", "wizard", "countdown", "wizard", "countdown"];

/** countLosses counts how often a page reports a lost connection. */
const countLosses = (page) =>
  page.addInitScript(() => {
    globalThis.losses = 0;
    addEventListener("DOMContentLoaded", () => {
      const away = document.querySelector(".away");
      if (away) new MutationObserver(() => (losses += away.hidden ? 0 : 1)).observe(away, { attributeFilter: ["hidden"] });
    });
  });

test("eight pages of one browser all update, and respond at once", async ({ context }) => {
  const pages = [];
  const opened = async (go) => {
    const page = await context.newPage();
    await countLosses(page);
    await go(page);
    pages.push(page);
    return page;
  };
  const home = await opened((page) => page.goto("/"));
  const runs = [];
  for (const photon of photons) {
    runs.push(await opened((page) => startRun(page, photon, photon === "countdown" ? { seconds: "300" } : {})));
  }
  const inbox = await opened((page) => page.goto("/asks"));
  expect(pages.length).toBe(8);

  // All pages update.
  for (const [n, page] of runs.entries()) {
    if (photons[n] === "countdown") {
      const bar = page.getByRole("progressbar");
      const before = await bar.getAttribute("value");
      await expect(bar).not.toHaveAttribute("value", before);
    } else await expect(dialog(page)).toBeVisible();
  }
  const asked = photons.filter((photon) => photon === "wizard").length;
  await expect(inbox.getByRole("main").getByRole("listitem")).toHaveCount(asked);
  await expect(home).toHaveTitle(new RegExp(`^\\(${asked}\\) `));

  // Every page can post, and the others show the effect.
  for (const [n, page] of runs.entries()) {
    await page.bringToFront(); // browsers throttle background pages
    if (photons[n] === "countdown") {
      await stop(page);
      await expectEnd(page, "stopped");
      continue;
    }
    await fillField(dialog(page), "name", `Ada ${n}`);
    const posted = page.waitForResponse((response) => response.request().method() === "POST");
    await pressButton(dialog(page), "Submit");
    await posted;
    await expect(dialog(page)).toContainText("Email");
    await expect(page.locator("#timeline")).toContainText(`Ada ${n}`);
    await pressButton(dialog(page), "Dismiss");
    await expect(result(page)).toHaveCount(1);
  }
  await expect(inbox.getByRole("main")).toContainText("No questions are waiting for you.");
  await expect(home).toHaveTitle(/^(?!\()/);

  // Each row appears once, in order, and no page reported a lost connection.
  for (const page of runs) {
    const ids = await page.locator("#timeline > li").evaluateAll((rows) => rows.map((row) => Number(row.id.slice(2))));
    expect(ids).toEqual([...new Set(ids)].sort((a, b) => a - b));
  }
  for (const page of pages) expect(await page.evaluate(() => losses)).toBe(0);
});
