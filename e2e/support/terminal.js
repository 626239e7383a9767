// A real terminal, of which the tests see the screen: tmux.
import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect } from "@playwright/test";

const run = promisify(execFile);

/** hasTmux resolves to whether terminals can be opened. */
export const hasTmux = () => run("tmux", ["-V"]).then(() => true, () => false);

/**
 * openTerminal opens a terminal of 80 columns in which a shell runs.
 *
 * @returns functions that type text, press keys as tmux names them, expect the screen to match,
 *   and close the terminal
 */
export async function openTerminal() {
  const folder = await mkdtemp(join(tmpdir(), "beam-terminal-"));
  const tmux = async (...args) => (await run("tmux", ["-S", join(folder, "socket"), ...args])).stdout;
  await tmux("-f", "/dev/null", "new-session", "-d", "-x", "80", "-y", "40", "env", "PS1=$ ", "sh");
  const terminal = {
    type: (text) => tmux("send-keys", "-l", text),
    press: (...keys) => tmux("send-keys", ...keys),
    async enter(line) {
      await terminal.type(line);
      await terminal.press("Enter");
    },
    screen: () => tmux("capture-pane", "-p"),
    expect: (pattern) => expect.poll(terminal.screen).toMatch(pattern),
    async close() {
      await tmux("kill-server").catch(() => {});
      await rm(folder, { recursive: true });
    },
  };
  await terminal.expect(/^\$/m);
  return terminal;
}
