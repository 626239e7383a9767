import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";

import { browse, complete, serve, signInAddress } from "./beam.js";
import { connect, kinds } from "./clients.js";

const filled = {
  text: "Ada", confirm: true, select: "pear", select_titled: "g", multiselect: ["apple", "plum"], multiselect_titled: ["r", "b"],
  number: 2.5, integer: 7, date: "2026-05-17", datetime: "2026-05-17T12:30:00Z",
  name: "Ada", mail: "ada@example.com", age: 36, plan: "pro", news: false,
};

const outcomes = {
  text: "Ada", confirm: true, select: "pear", select_titled: "g", multiselect: ["apple", "plum"], multiselect_titled: ["r", "b"],
  number: 2.5, integer: 7, date: "2026-05-17T00:00:00Z", datetime: "2026-05-17T12:30:00Z",
  form: { name: "Ada", mail: "ada@example.com", age: 36, plan: "pro" },
  sample: "Paris (oracle)", roots: ["file:///srv/data"], all: "Ada true Paris", rounds: "Ada 7",
};

// fill fills in a requested schema. In those of 2025-06-18, each choice of a
// multiple selection is a field of its own; in later ones, a confirmation is a choice.
function fill({ requestedSchema }) {
  const content = {};
  for (const [name, schema] of Object.entries(requestedSchema.properties)) {
    const [field, choice] = name.split(".");
    if (field === "confirm" && schema.oneOf) {
      content[name] = filled.confirm ? "yes" : "no";
      continue;
    }
    content[name] = choice === undefined ? filled[name] : filled[field].includes(choice);
  }
  return { action: "accept", content };
}

// failure returns the text of a call's failure, as a result or as an error.
async function failure(call) {
  try {
    const r = await call;
    assert.equal(r.isError, true, JSON.stringify(r));
    return r.content.at(-1).text;
  } catch (err) {
    if (err.code === "ERR_ASSERTION") throw err;
    return `${err.message} ${JSON.stringify(err.data ?? null)}`;
  }
}

const once = () => Promise.withResolvers();

let host;
before(async () => (host = await serve()));
after(() => host.stop());

for (const transport of ["stdio", "http"]) {
  for (const kind of kinds) {
    describe(`${kind.name}, ${kind.version}, ${transport}`, { timeout: 120_000 }, () => {
      const june = kind.version === "2025-06-18";
      const modern = kind.version === "2026-07-28";
      const person = { elicit: fill };
      let beam, desk;
      before(async () => {
        beam = await connect(kind, transport === "http" ? host : undefined, person);
        if (transport === "stdio") desk = signInAddress(beam.stderr).then(browse);
        if (transport === "http") desk = (shared ??= browse(host.signIn));
      });
      after(() => beam.close());
      const settled = async (tool, outcome, args) => assert.deepEqual((await beam.call(tool, args)).structuredContent, outcome, tool);

      test("lists tools", async () => {
        const { tools } = await beam.client.listTools();
        assert.ok(tools.some((t) => t.name === "multiselect_titled"));
      });

      test("every kind of question", async () => {
        person.elicit = fill;
        for (const [tool, value] of Object.entries(outcomes)) await settled(tool, { outcome: "accepted", value });
      });

      test("decline and cancel", async () => {
        for (const tool of ["text", "form", "rounds", ...(june ? [] : ["secret", "url"])]) {
          person.elicit = () => ({ action: "decline" });
          await settled(tool, { outcome: "declined" });
          person.elicit = () => ({ action: "cancel" });
          await settled(tool, { outcome: "cancelled" });
        }
      });

      test("pages", async () => {
        for (const [tool, value] of Object.entries({ secret: "7 characters", file: "notes.txt: hello", url_done: true })) {
          person.elicit = async ({ mode, url, requestedSchema }) => {
            assert.equal(mode, "url");
            assert.equal(requestedSchema, undefined);
            await complete(await desk, tool, url);
            return { action: "accept" };
          };
          if (june) assert.match(await failure(beam.call(tool)), /elicitation\.url/);
          else await settled(tool, { outcome: "accepted", value });
        }
      });

      test("invalid answers", async () => {
        let tries = ["x", "LH", "LHR"];
        const messages = [];
        person.elicit = ({ message }) => {
          messages.push(message);
          return { action: "accept", content: { code: tries.shift() } };
        };
        await settled("code", { outcome: "accepted", value: "LHR" });
        assert.deepEqual(messages.map((m) => m.includes("must be three capital letters")), [false, true, true]);
        tries = ["x", "y", "z", "LHR"];
        assert.match(await failure(beam.call("code")), /got no valid answer/);
        assert.equal(messages.length, 6);
      });

      test("abort and time-out of the client", async () => {
        for (const [how, options] of [["abort", {}], ["timeout", { timeout: 1000 }]]) {
          const name = `${kind.name} ${kind.version} ${transport} ${how}`;
          const giveUp = new AbortController();
          const onprogress = () => how === "abort" && giveUp.abort();
          await assert.rejects(beam.call("slow", { name }, { ...options, onprogress, signal: giveUp.signal }));
          assert.equal((await beam.call("await", { name })).content[0].text, name);
        }
        if (modern) return; // from then on the question waits for its answer
        const asked = once();
        const withdrawn = once();
        person.elicit = (_, extra) => {
          asked.resolve();
          (extra.signal ?? extra.mcpReq.signal).addEventListener("abort", withdrawn.resolve);
          return withdrawn.promise.then(() => ({ action: "cancel" }));
        };
        const giveUp = new AbortController();
        const name = `${kind.name} ${kind.version} ${transport} ask`;
        const call = assert.rejects(beam.call("slow_ask", { name }, { signal: giveUp.signal }));
        await asked.promise;
        giveUp.abort();
        await call;
        assert.equal((await beam.call("await", { name })).content[0].text, name);
        if (transport === "stdio") await withdrawn.promise; // over HTTP its stream is gone
        withdrawn.resolve();
      });

      test("20 calls at once", async () => {
        const own = (p) => p.message.startsWith("Fulfilling input required by"); // the client's own words
        let waiting = 0;
        const all = once();
        person.elicit = async ({ message }) => {
          if (++waiting === 20) all.resolve();
          await all.promise;
          return { action: "accept", content: { text: message.split("\n")[0].replace("Say ", "") } };
        };
        await Promise.all(
          Array.from({ length: 20 }, async (_, i) => {
            const name = `caller-${i}`;
            const r = await beam.call("echo", { name }, { onprogress: (p) => own(p) || assert.equal(p.message, name) });
            assert.deepEqual(r.structuredContent, { outcome: "accepted", value: `${name}=${name}` });
            assert.equal(beam.came.filter((m) => m.params?.message === name).length, 6);
          }),
        );
      });

      test("progress", async () => {
        beam.came.length = 0;
        const steps = Array.from({ length: 500 }, (_, i) => i + 1);
        const told = [];
        await beam.call("progress", { count: 500 }, { onprogress: (p) => told.push(p.progress) });
        assert.deepEqual(told, steps.slice(0, told.length));
        assert.deepEqual(beam.came.map((m) => m.params?.progress), [...steps, undefined]); // the result comes last
      });

      test("results", async () => {
        const wrap = (v) => (modern ? v : { result: v });
        assert.deepEqual((await beam.call("string")).structuredContent, wrap("a string"));
        assert.deepEqual((await beam.call("array")).structuredContent, wrap([1, 2, 3]));
        assert.deepEqual((await beam.call("object")).structuredContent, { x: 1, y: 2 });
        assert.equal(await failure(beam.call("fails")), "the disk is full");
        assert.match(await failure(beam.call("echo")), /\/name is required\./);
        await assert.rejects(beam.call("nonesuch"), /nonesuch/);
        assert.deepEqual((await beam.call("artifacts")).content.map((c) => c.type), ["text", "image", "resource", "resource", "text"]);
      });

      test("clients that can't be asked", async () => {
        for (const [capabilities, tool, lack] of [[{}, "text", /elicitation/], [{}, "sample", /sampling/], [{ elicitation: {} }, "secret", /elicitation/]]) {
          const other = await connect(kind, transport === "http" ? host : undefined, { capabilities, elicit: () => assert.fail("it was asked") });
          assert.match(await failure(other.call(tool)), lack);
          await other.close();
        }
      });
    });
  }
}

let shared; // the cookies of the operator of the one server
