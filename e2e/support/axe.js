// Accessibility, as axe-core sees it: nothing may be found.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { expect } from "./test.js";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** expectAccessible expects axe to find nothing wrong with a page, light and dark. */
export async function expectAccessible(page) {
  for (const colorScheme of ["light", "dark"]) {
    await page.emulateMedia({ colorScheme });
    const { violations } = await page.evaluate(`(async () => {
      ${axe}
      return axe.run({ resultTypes: ["violations"] });
    })()`);
    expect(violations.map(summary), `what axe finds, ${colorScheme}`).toEqual([]);
  }
  await page.emulateMedia({ colorScheme: null });
}

const summary = ({ id, help, nodes }) => ({
  id,
  help,
  nodes: nodes.map((node) => `${node.html}: ${node.failureSummary}`),
});
