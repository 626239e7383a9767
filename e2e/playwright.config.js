import { defineConfig } from "@playwright/test";

// The browser is the machine's own Chromium; none is ever downloaded.
const chromium = process.env.CHROMIUM || "/usr/bin/chromium";

export default defineConfig({
  // Journeys are run by make test; what is long, by make test-long.
  projects: [
    { name: "journeys", testDir: ".", testIgnore: "long/**" },
    { name: "long", testDir: "long" },
  ],
  outputDir: "results",
  globalSetup: "./support/build.js",
  fullyParallel: true,
  workers: 3, // of which one usually waits
  retries: 0,
  forbidOnly: !!process.env.CI,
  timeout: 120_000, // these end what hangs; what is slow is measured elsewhere
  expect: { timeout: 20_000 },
  reporter: [["list"], ["./support/count-reporter.js"]],
  use: {
    browserName: "chromium",
    viewport: { width: 1280, height: 800 },
    locale: "en-GB",
    timezoneId: "UTC",
    screenshot: "only-on-failure",
    contextOptions: { reducedMotion: "reduce" },
    launchOptions: {
      executablePath: chromium,
      args: [
        "--no-sandbox",
        "--disable-quic",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
        "--no-first-run",
      ],
    },
  },
});
