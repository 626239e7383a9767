#!/usr/bin/env node
// Starts the program for this system, which npm installs as an optional dependency.
"use strict";
const { spawn } = require("node:child_process");
const { isatty } = require("node:tty");

const name = `@photon-beam/beam-${process.platform}-${process.arch}`;

function findProgram() {
  try {
    return require.resolve(`${name}/bin/beam${process.platform === "win32" ? ".exe" : ""}`);
  } catch {
    console.error(
      `beam: the package ${name} is not installed. Install again without --omit=optional; ` +
        "if there is no such package, build Beam from source: https://github.com/photon-beam/beam",
    );
    process.exit(1);
  }
}

const program = spawn(findProgram(), process.argv.slice(2), { stdio: "inherit" });

// A terminal sends Ctrl-C to the program as well, for which a second one means to leave at once.
const inTerminal = [0, 1, 2].some((fd) => isatty(fd));
process.on("SIGINT", () => inTerminal || program.kill("SIGINT"));
for (const signal of ["SIGTERM", "SIGHUP"]) process.on(signal, () => program.kill(signal));

program.on("error", (error) => {
  console.error(`beam: ${error.message}`);
  process.exit(1);
});
program.on("exit", (status, signal) => {
  if (signal === null) process.exit(status);
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
});
