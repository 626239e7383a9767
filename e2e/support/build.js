// Builds the binary under test, unless BEAM names one, and the example that embeds Beam.
import { execFileSync } from "node:child_process";
import { resolve } from "node:path";
import { fileURLToPath } from "node:url";

export const root = fileURLToPath(new URL("../..", import.meta.url));

/** embed is the example's binary. */
export const embed = resolve(root, "bin/embed");

export default function build() {
  if (!process.env.BEAM) {
    execFileSync("make", ["--no-print-directory", "build"], { cwd: root, stdio: "inherit" });
  }
  execFileSync("go", ["build", "-trimpath", "-o", embed, "./examples/embed"], {
    cwd: root,
    env: { ...process.env, CGO_ENABLED: "0" },
    stdio: "inherit",
  });
  process.env.BEAM = resolve(root, process.env.BEAM || "bin/beam");
}
