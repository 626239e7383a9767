// Builds the binary under test, unless BEAM names one, and the examples that embed Beam and
// that ask for approvals.
import { execFileSync } from "node:child_process";
import { resolve } from "node:path";
import { fileURLToPath } from "node:url";

export const root = fileURLToPath(new URL("../..", import.meta.url));

/** embed is the example's binary. */
export const embed = resolve(root, "bin/embed");

/** approval is the example with a question that somebody else must approve. */
export const approval = resolve(root, "bin/approval");

export default function build() {
  if (!process.env.BEAM) {
    execFileSync("make", ["--no-print-directory", "build"], { cwd: root, stdio: "inherit" });
  }
  for (const [program, source] of [[embed, "./examples/embed"], [approval, "./examples/approval"]]) {
    execFileSync("go", ["build", "-trimpath", "-o", program, source], {
      cwd: root,
      env: { ...process.env, CGO_ENABLED: "0" },
      stdio: "inherit",
    });
  }
  process.env.BEAM = resolve(root, process.env.BEAM || "bin/beam");
}
