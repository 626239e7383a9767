// Calls as tasks, with the official client for them. It polls: only at the end does it
// request a task's result.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";

import { browse, handoff, serveFolder, settle } from "./beam.js";
import { connect } from "./ext-tasks.js";

const question = "Which account should Ada get?";
const asks = `${question}\n\nThis question is lost if Beam restarts.`;
const declined = /The user declined "Which account should Ada get\?"\. Don't ask again unless the user wants to\./;

let host, cookie;
before(async () => {
  host = await serveFolder();
  cookie = await browse(host.signIn);
});
after(() => host.stop());

// finish waits for the end of a call and returns its outcome. The first time that its
// task's status message has the address of a question, it passes the message to answer.
async function finish(execution, answer = assert.fail) {
  let told = false;
  const { outcome } = await execution.settle({
    async onEvent({ task }) {
      if (told || !handoff.test(task?.statusMessage)) return;
      told = true;
      await answer(task.statusMessage);
    },
  });
  return outcome;
}

// assertDeclined checks the outcome of a call whose question was declined. In 2025-11-25,
// a task whose result is an error has failed.
function assertDeclined({ status, result, error }, failed = false) {
  assert.equal(status, failed ? "failed" : "completed");
  if (!failed) assert.equal(result.isError, true);
  assert.match(failed ? error.message : result.content[0].text, declined);
}

// The clients mostly wait, so they run at once.
describe("ext-tasks", { concurrency: true }, () => {
  for (const version of ["2025-11-25", "2026-07-28"]) {
    for (const transport of ["stdio", "http"]) {
      describe(`${version}, ${transport}`, { timeout: 120_000 }, () => {
        const old = version === "2025-11-25";
        const options = { task: { preference: old ? "require" : "allow" } }; // from then on, the server decides

        // Before 2026-07-28 the call is a task, and its client is asked after it has seen that
        // the task waits. From then on, the call asks before it is a task.
        test("a client that can be asked", async (t) => {
          const asked = [];
          let answer = { action: "accept", content: { account: "ada" } };
          const { session, close } = await connect(version, host.to(transport), ({ message }) => (asked.push(message), answer));
          t.after(close);
          const call = async () => {
            const execution = await session.callTool("account", {}, options);
            assert.equal(execution.kind, old ? "task" : "immediate");
            return finish(execution, (message) => assert.ok(message.includes(question), message));
          };
          assert.deepEqual((await call()).result.structuredContent, { account: "ada" });
          answer = { action: "decline" };
          assertDeclined(await call(), old);
          assert.deepEqual(asked, [asks, asks]);
        });

        test("a client that can't be asked", async (t) => {
          const { session, close } = await connect(version, host.to(transport));
          t.after(close);
          for (const fields of [{ account: "ada" }, undefined]) {
            const execution = await session.callTool("account", {}, options);
            assert.equal(execution.kind, "task");
            const outcome = await finish(execution, async (message) => {
              assert.ok(message.includes(question), message);
              await settle(cookie, message, fields);
            });
            if (fields) assert.deepEqual(outcome.result.structuredContent, fields);
            else assertDeclined(outcome, old);
          }
        });
      });
    }
  }
});
