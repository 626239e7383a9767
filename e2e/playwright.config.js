import { defineConfig } from "@playwright/test";
import { notProxied, titlesNotProxied } from "./support/proxied.js";

// The browser is the machine's own Chromium without its windows, which takes half the time;
// none is ever downloaded.
const chromium = process.env.CHROMIUM || "/usr/bin/chromium-headless-shell";

export default defineConfig({
  // make test runs the journeys, and looks at each page in light colors. make test-long
  // runs long/, the journeys that are tagged @long, and those with accessible in
  // their titles or tags, in the other colors. It also runs the journeys once behind a proxy
  // with TLS, below a path.
  projects: [
    { name: "journeys", testIgnore: "long/**", grepInvert: /@long/, metadata: { colors: ["light"] } },
    { name: "long", testMatch: "long/**" },
    { name: "long-tagged", testIgnore: "long/**", grep: /@long/, metadata: { colors: ["light"] } },
    { name: "long-proxied", testIgnore: ["long/**", ...Object.keys(notProxied)], grepInvert: new RegExp(["@long", ...Object.keys(titlesNotProxied)].join("|")), metadata: { colors: ["light"], proxied: true }, use: { ignoreHTTPSErrors: true } },
    { name: "long-colors", testIgnore: "long/**", grep: /accessible/, metadata: { colors: ["dark", "forced"] } },
  ],
  outputDir: "results",
  globalSetup: "./support/build.js",
  fullyParallel: true,
  workers: 3, // of which one usually waits
  retries: 0,
  forbidOnly: !!process.env.CI,
  timeout: 180_000, // these end what hangs, on a machine that does all else at once; what is slow is measured elsewhere
  expect: { timeout: 60_000 },
  reporter: [["list"], ["./support/count-reporter.js"]],
  use: {
    browserName: "chromium",
    viewport: { width: 1280, height: 800 },
    locale: "en-GB",
    timezoneId: "UTC",
    contextOptions: { reducedMotion: "reduce" },
    launchOptions: {
      executablePath: chromium,
      timeout: 120_000, // a cold one starts late
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
