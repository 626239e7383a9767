// Accessibility checks with axe-core.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { expect, test } from "./fixtures.js";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

const colorSchemes = {
  light: { colorScheme: "light", forcedColors: "none" },
  dark: { colorScheme: "dark", forcedColors: "none" },
  forced: { colorScheme: "dark", forcedColors: "active" },
};

// By default, axe omits WCAG 2.2.
const ofAll = { runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"] };

// What only colors decide is checked in each scheme; the rest, in light colors.
const ofColors = { runOnly: ["color-contrast", "link-in-text-block"] };

/** expectAccessible expects axe to find no violations on a page, in the colors of the project. */
export async function expectAccessible(page) {
  if (!(await page.evaluate("'axe' in window"))) await page.evaluate(axe);
  for (const name of test.info().project.metadata.colors) {
    await page.emulateMedia(colorSchemes[name]);
    const options = { resultTypes: ["violations"], ...(name === "light" ? ofAll : ofColors) };
    const { violations } = await page.evaluate((options) => window.axe.run(options), options);
    expect.soft(violations.map(summary), `axe violations, ${name} colors`).toEqual([]);
  }
  await page.emulateMedia({ colorScheme: null, forcedColors: null });
}

/** expectTargets expects what there is to press to be large enough, and apart. */
export async function expectTargets(page) {
  const { violations } = await page.evaluate(() => window.axe.run({ resultTypes: ["violations"], runOnly: ["target-size"] }));
  expect.soft(violations.map(summary), "axe violations on a narrow screen").toEqual([]);
}

const summary = ({ id, help, nodes }) => ({
  id,
  help,
  nodes: nodes.map((node) => `${node.html}: ${node.failureSummary}`),
});
