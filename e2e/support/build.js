// Builds the binary under test, unless BEAM names one, the examples that embed Beam and
// that ask for approvals, and a certificate. Here nothing limits how long that takes.
import { execFileSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { resolve } from "node:path";
import { fileURLToPath } from "node:url";

export const root = fileURLToPath(new URL("../..", import.meta.url));

/** embed is the example's binary. */
export const embed = resolve(root, "bin/embed");

/** approval is the example with a question that somebody else must approve. */
export const approval = resolve(root, "bin/approval");

/** upgrade returns the binary of a version of a program whose photons change: first, second or wrong. */
export const upgrade = (version) => resolve(root, `bin/upgrade-${version}`);

/** certificate is a folder with a certificate for localhost, cert.pem, and its key, key.pem. */
export const certificate = resolve(root, "bin/localhost");

const go = (args, cwd = root) => execFileSync("go", args, { cwd, env: { ...process.env, CGO_ENABLED: "0" }, stdio: ["ignore", "pipe", "inherit"], encoding: "utf8" });

export default function build() {
  if (!process.env.BEAM) {
    execFileSync("make", ["--no-print-directory", "build"], { cwd: root, stdio: "inherit" });
  }
  for (const [program, source] of [[embed, "./examples/embed"], [approval, "./examples/approval"]]) {
    go(["build", "-o", program, source]);
  }
  for (const version of ["first", "second", "wrong"]) {
    go(["build", "-ldflags", `-X main.version=${version}`, "-o", upgrade(version), "./internal/systemtest/upgrade/program"]);
  }
  mkdirSync(certificate, { recursive: true });
  const generator = resolve(go(["env", "GOROOT"]).trim(), "src/crypto/tls/generate_cert.go"); // the standard library's own
  go(["run", generator, "--host", "localhost", "--ecdsa-curve", "P256"], certificate);
  process.env.BEAM = resolve(root, process.env.BEAM || "bin/beam");
}
