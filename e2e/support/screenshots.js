// Screenshots for people to look at. No test compares them.
import { fileURLToPath } from "node:url";

const folder = fileURLToPath(new URL("../screenshots/", import.meta.url));
export const sizes = { phone: { width: 360, height: 800 }, laptop: { width: 1280, height: 800 }, wide: { width: 1920, height: 1080 } };

/** takeScreenshot writes e2e/screenshots/NAME-SIZE-SCHEME.png in all sizes, light and dark. */
export async function takeScreenshot(page, name) {
  const before = page.viewportSize();
  for (const [size, viewport] of Object.entries(sizes)) {
    await page.setViewportSize(viewport);
    for (const colorScheme of ["light", "dark"]) {
      await page.emulateMedia({ colorScheme });
      await page.screenshot({ path: `${folder}${name}-${size}-${colorScheme}.png` });
    }
  }
  await page.emulateMedia({ colorScheme: null });
  await page.setViewportSize(before);
}
