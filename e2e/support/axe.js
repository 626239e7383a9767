// Accessibility, as axe-core sees it: nothing may be found.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { expect } from "./fixtures.js";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

const looks = {
  light: { colorScheme: "light", forcedColors: "none" },
  dark: { colorScheme: "dark", forcedColors: "none" },
  "forced colours": { colorScheme: "dark", forcedColors: "active" },
};

/** expectAccessible expects axe to find nothing wrong with a page, light, dark and in forced colours. */
export async function expectAccessible(page) {
  for (const [name, media] of Object.entries(looks)) {
    await page.emulateMedia(media);
    const { violations } = await page.evaluate(`(async () => {
      ${axe}
      return axe.run({ resultTypes: ["violations"] });
    })()`);
    expect(violations.map(summary), `what axe finds, ${name}`).toEqual([]);
  }
  await page.emulateMedia({ colorScheme: null, forcedColors: null });
}

const summary = ({ id, help, nodes }) => ({
  id,
  help,
  nodes: nodes.map((node) => `${node.html}: ${node.failureSummary}`),
});
