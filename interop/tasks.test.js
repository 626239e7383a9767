// Tasks of 2025-11-25 through the official client's API for tasks, and those whose
// questions travel in _meta through its API for any request.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";

import { CallToolResultSchema, CreateTaskResultSchema, GetTaskResultSchema } from "@modelcontextprotocol/sdk/types.js";

import { serve } from "./beam.js";
import { connect, kinds } from "./clients.js";

const related = "io.modelcontextprotocol/related-task";
const kind = kinds.find((k) => k.name === "sdk 1");

let host;
before(async () => (host = await serve()));
after(() => host.stop());

for (const transport of ["stdio", "http"]) {
  describe(`tasks, ${kind.name}, ${transport}`, { timeout: 120_000 }, () => {
    const server = () => (transport === "http" ? host : undefined);
    const person = { elicit: () => ({ action: "accept", content: { text: "Ada" } }) };
    let beam, tasks;
    before(async () => {
      beam = await connect(kind, server(), person);
      tasks = beam.client.experimental.tasks;
    });
    after(() => beam.close());

    test("is offered", async () => {
      const { requests, list } = beam.client.getServerCapabilities().tasks;
      assert.deepEqual(requests, { tools: { call: {} }, "tools.call": true });
      assert.equal(list !== undefined, transport === "stdio"); // over HTTP nobody is identified here
      const { tools } = await beam.client.listTools();
      assert.ok(tools.every((t) => t.execution.taskSupport === "optional"));
    });

    test("a call that asks is streamed to its result", async () => {
      const seen = [];
      let asked;
      person.elicit = (params) => {
        asked = params;
        return { action: "accept", content: { text: "Ada" } };
      };
      for await (const m of tasks.callToolStream({ name: "text", arguments: {} }, CallToolResultSchema, { task: { ttl: 60_000 } })) {
        seen.push(m.type === "taskStatus" ? m.task.status : m.type);
        if (m.type === "taskCreated") assert.equal(m.task.status, "working");
        if (m.type === "result") assert.deepEqual(m.result.structuredContent, { outcome: "accepted", value: "Ada" });
      }
      assert.deepEqual(seen.filter((s) => s !== "working"), ["taskCreated", "input_required", "result"]);
      assert.match(asked._meta[related].taskId, /^[0-9a-f]{32}$/);
    });

    test("an answer travels with tasks/get", async () => {
      const other = await connect(kind, server(), { capabilities: {}, elicit: () => assert.fail("it was asked") });
      const created = await other.client.request({ method: "tools/call", params: { name: "text", arguments: {}, task: {} } }, CreateTaskResultSchema);
      const { taskId } = created;
      let waiting = created; // soon: what creates it doesn't wait for its question for long
      while (waiting.status === "working") waiting = await other.client.request({ method: "tasks/get", params: { taskId } }, GetTaskResultSchema);
      assert.equal(waiting.status, "input_required");
      const [{ elicitationId, requestedSchema }] = waiting._meta["io.modelcontextprotocol/pending-elicitations"];
      assert.deepEqual(Object.keys(requestedSchema.properties), ["text"]);
      const response = { elicitationId, action: "accept", content: { text: "Ada" } };
      const params = { taskId, _meta: { "io.modelcontextprotocol/elicitation-response": response } };
      const task = await other.client.request({ method: "tasks/get", params }, GetTaskResultSchema);
      assert.ok(["working", "completed"].includes(task.status), task.status);
      const result = await other.client.experimental.tasks.getTaskResult(taskId, CallToolResultSchema);
      assert.deepEqual(result.structuredContent, { outcome: "accepted", value: "Ada" });
      assert.equal(result._meta[related].taskId, taskId);
      await other.close();
    });

    test("a task is cancelled, once", async () => {
      const created = await beam.client.request({ method: "tools/call", params: { name: "text", arguments: {}, task: {} } }, CreateTaskResultSchema);
      assert.equal((await tasks.cancelTask(created.task.taskId)).status, "cancelled");
      await assert.rejects(tasks.cancelTask(created.task.taskId), { code: -32602 });
      await assert.rejects(tasks.getTask("nonesuch"), { code: -32602 });
      if (transport === "stdio") {
        const all = await tasks.listTasks();
        assert.ok(all.tasks.some((t) => t.taskId === created.task.taskId && t.status === "cancelled"));
      }
    });

    test("a tool that fails is a task that fails", async () => {
      for (const name of ["fails", "nonesuch"]) {
        let last;
        for await (const m of tasks.callToolStream({ name, arguments: {} }, CallToolResultSchema, { task: {} })) last = m;
        assert.equal(last.type, "error", name);
      }
    });
  });
}
