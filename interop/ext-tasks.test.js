// Calls as tasks, with the official client for them. It polls: only at the end does it
// request a task's result.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";

import { browse, serveFolder, settle } from "./beam.js";
import { connect } from "./ext-tasks.js";

const question = "Which account should Ada get?";
const declined = /declined/;

let host, cookie;
before(async () => {
  host = await serveFolder();
  cookie = await browse(host.signIn);
});
after(() => host.stop());

// finish waits for the end of a call and returns its outcome. The first time that its task
// waits for an answer, it passes the task's status message to answer.
async function finish(execution, answer) {
  let waited = false;
  const { outcome } = await execution.settle({
    async onEvent({ task }) {
      if (task?.status !== "input_required" || waited) return;
      waited = true;
      await answer?.(task.statusMessage);
    },
  });
  return outcome;
}

for (const transport of ["stdio", "http"]) {
  describe(`ext-tasks, 2025-11-25, ${transport}`, { timeout: 30_000 }, () => {
    const task = { preference: "require" };

    test("a task whose client can't be asked", async (t) => {
      const { session, close } = await connect("2025-11-25", host.to(transport));
      t.after(close);
      for (const fields of [{ account: "ada" }, undefined]) {
        const outcome = await finish(await session.callTool("account", {}, { task }), (message) => {
          assert.ok(message.includes(question), message);
          return settle(cookie, message, fields);
        });
        if (fields) assert.deepEqual(outcome.result.structuredContent, fields);
        else assert.match(outcome.error.message, declined);
      }
    });
  });

  describe(`ext-tasks, 2026-07-28, ${transport}`, { timeout: 30_000 }, () => {
    test("a call whose client is asked", async (t) => {
      const asked = [];
      let answer = { action: "accept", content: { account: "ada" } };
      const { session, close } = await connect("2026-07-28", host.to(transport), ({ message }) => (asked.push(message), answer));
      t.after(close);
      assert.deepEqual((await finish(await session.callTool("account", {}))).result.structuredContent, { account: "ada" });
      answer = { action: "decline" };
      const { result } = await finish(await session.callTool("account", {}));
      assert.equal(result.isError, true);
      assert.match(result.content[0].text, declined);
      assert.deepEqual(asked, [question, question]);
    });
  });
}
