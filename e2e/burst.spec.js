// More events than anybody reads: all are told, in order, and the page bears it.
import { test, expect } from "./support/fixtures.js";
import { prepareBurst, runBurst, shown } from "./support/burst.js";
import { expectEnd, result } from "./support/run-page.js";
import { weight } from "./support/page-timing.js";

/** expectAll expects the rows and the count to tell all statuses of a burst, and the rows to be the last of them. */
async function expectAll(page, events) {
  const { numbers, hidden, rows } = await shown(page);
  const statuses = Array.from({ length: events }, (_, n) => n + 1).filter((n) => n % 10 !== 0);
  expect(numbers).toEqual(statuses.slice(-numbers.length));
  expect(hidden + rows).toBe(statuses.length + 2); // the start and the end are rows, too
}

test("ten thousand events are all told, in order, and clicks are answered meanwhile", async ({ page }) => {
  await prepareBurst(page, 10_000);
  await runBurst(page);
  await page.getByRole("button", { name: "Keyboard shortcuts" }).click();
  await expect(page.getByRole("dialog", { name: "Keyboard shortcuts" })).toBeVisible();
  await page.keyboard.press("Escape");
  await expectEnd(page, "completed");
  await expect(result(page)).toContainText("10000");
  await expectAll(page, 10_000);
  await page.reload();
  await expectAll(page, 10_000);
});

test("a hundred thousand events leave the page light", async ({ page }) => {
  await prepareBurst(page, 100_000);
  const before = await weight(page);
  await runBurst(page);
  await expect(result(page)).toHaveCount(1, { timeout: 30_000 });
  await expectEnd(page, "completed");
  await expectAll(page, 100_000);
  const { nodes, heap } = await weight(page);
  expect(nodes - before.nodes).toBeLessThan(20_000);
  expect(heap - before.heap).toBeLessThan(20e6);
});
