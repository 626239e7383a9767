// Builds the binary under test, unless BEAM names one.
import { execFileSync } from "node:child_process";
import { resolve } from "node:path";
import { fileURLToPath } from "node:url";

export const root = fileURLToPath(new URL("../..", import.meta.url));

export default function build() {
  if (!process.env.BEAM) {
    execFileSync("make", ["--no-print-directory", "build"], { cwd: root, stdio: "inherit" });
  }
  process.env.BEAM = resolve(root, process.env.BEAM || "bin/beam");
}
