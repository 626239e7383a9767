// Makes a module of its own for a program, outside the repository.
import { execFile, execFileSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { root } from "./build.js";

const beam = "github.com/photon-beam/beam";
const env = { ...process.env, GOFLAGS: "-mod=mod", GOWORK: "off", CGO_ENABLED: "0" };

/**
 * makeModule makes a module of one program that depends on Beam's source tree as it is
 * checked out, without the Datastar bundle.
 *
 * @param {string} source the program
 * @returns {{go: (...args: string[]) => Promise<void>, write: (source: string) => void, program: string, remove: () => void}}
 *   a function that runs the go command in the module's folder, one that replaces the
 *   program's source, the program that `go build -o hello` makes, and one that removes it all
 */
export function makeModule(source) {
  const folder = mkdtempSync(join(tmpdir(), "beam-module-"));
  const module = join(folder, "hello");
  copyTree(join(folder, "beam"));
  mkdirSync(module);
  const version = readFileSync(join(root, "go.mod"), "utf8").match(/^go .*$/m)[0];
  writeFileSync(
    join(module, "go.mod"),
    `module example.com/hello\n\n${version}\n\nrequire ${beam} v0.0.0\n\nreplace ${beam} => ../beam\n`,
  );
  cpSync(join(root, "go.sum"), join(module, "go.sum"));
  const write = (source) => writeFileSync(join(module, "main.go"), source);
  write(source);
  return {
    go: async (...args) => void (await promisify(execFile)("go", args, { cwd: module, env })),
    write,
    program: join(module, "hello"),
    remove: () => rmSync(folder, { recursive: true }),
  };
}

// copyTree copies the files that are in version control or will be.
function copyTree(to) {
  const listed = execFileSync("git", ["ls-files", "-coz", "--exclude-standard", "--deduplicate"], { cwd: root, encoding: "utf8" });
  for (const name of listed.split("\0").filter((name) => name && !name.startsWith("static/vendor/datastar"))) {
    mkdirSync(dirname(join(to, name)), { recursive: true });
    cpSync(join(root, name), join(to, name));
  }
}
