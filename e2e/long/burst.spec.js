// More events than anyone reads: the page receives all of them in order and stays responsive.
import { test, expect } from "../support/fixtures.js";
import { prepareBurst, runBurst, shown } from "../support/burst.js";
import { expectEnd, result } from "../support/run-page.js";
import { measurePage } from "../support/page-timing.js";

/** expectAll expects the rows and the count of earlier rows to cover all statuses of a burst. */
async function expectAll(page, events) {
  const { numbers, hidden, rows } = await shown(page);
  const statuses = Array.from({ length: events }, (_, n) => n + 1).filter((n) => n % 10 !== 0);
  expect(numbers).toEqual(statuses.slice(-numbers.length));
  expect(hidden + rows).toBe(statuses.length + 2); // plus the rows of the start and the end
}

test("ten thousand events arrive in order, and clicks work meanwhile", async ({ page }) => {
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

test("a hundred thousand events leave the page small", async ({ page }) => {
  await prepareBurst(page, 100_000);
  const before = await measurePage(page);
  await runBurst(page);
  await expect(result(page)).toHaveCount(1, { timeout: 100_000 });
  await expectEnd(page, "completed");
  await expectAll(page, 100_000);
  const { nodes, heap } = await measurePage(page);
  expect(nodes - before.nodes).toBeLessThan(20_000);
  expect(heap - before.heap).toBeLessThan(20e6);
});
