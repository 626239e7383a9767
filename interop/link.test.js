// Clients that can't show questions get an address to answer at, and continue
// later. They list the tools first, because they validate results against the
// tools' schemas.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";

import { browse, handoff, serve, settle, signInAddress } from "./beam.js";
import { connect, kinds } from "./clients.js";

const flags = ["--ask-handoff", "300ms", "--keep-alive", "50ms"];

let host, shared;
before(async () => (host = await serve(flags)));
after(() => host.stop());

const ada = { text: "Ada" };

for (const transport of ["stdio", "http"]) {
  for (const kind of kinds) {
    describe(`${kind.name}, ${kind.version}, ${transport}`, { timeout: 120_000 }, () => {
      const to = (person) => connect(kind, transport === "http" ? host : undefined, person, flags);
      const desk = (beam) => (transport === "http" ? (shared ??= browse(host.signIn)) : signInAddress(beam.stderr).then(browse));

      test("one that declared nothing", async (t) => {
        const beam = await to({ capabilities: {}, elicit: () => assert.fail("it was asked") });
        t.after(() => beam.close());
        const signedIn = desk(beam);
        const { tools } = await beam.client.listTools();
        assert.ok(tools.some((t) => t.name === "beam_resume"));
        assert.ok(tools.every((t) => t.outputSchema === undefined));
        const first = await beam.call("text", {}, { onprogress() {} });
        assert.equal(first.isError, undefined);
        const told = beam.came.find((m) => m.method === "notifications/progress");
        assert.match(told.params.message, handoff);
        const text = first.content[0].text;
        const run = text.match(handoff)[2];
        assert.match((await beam.call("beam_resume", { run })).content[0].text, handoff);
        await settle(await signedIn, text, ada);
        assert.deepEqual((await beam.call("beam_resume", { run })).structuredContent, { outcome: "accepted", value: "Ada" });
      });

      if (kind.version !== "2026-07-28") {
        test("one that is silent", async (t) => {
          const asked = [];
          const beam = await to({ elicit: (question) => (asked.push(question), new Promise(() => {})) });
          t.after(() => beam.close());
          const signedIn = desk(beam);
          const { tools } = await beam.client.listTools();
          assert.ok(tools.some((t) => t.outputSchema));
          const first = await beam.call("text");
          assert.equal(first.isError, true); // structured content was promised
          const text = first.content[0].text;
          const again = beam.call("beam_resume", { run: text.match(handoff)[2] });
          await settle(await signedIn, text, ada);
          const result = await again;
          if (result.structuredContent) assert.deepEqual(result.structuredContent, { outcome: "accepted", value: "Ada" });
          else assert.match(result.content[0].text, handoff); // handed off again before the answer
          });
      }

      if (transport === "http") return;
      // A client whose timeout progress resets waits as long as it takes.
      test("one that is kept alive", async (t) => {
        const beam = await connect(kind, undefined, { capabilities: {} }, ["--ask-handoff", "0", "--keep-alive", "50ms"]);
        t.after(() => beam.close());
        const signedIn = signInAddress(beam.stderr).then(browse);
        let told = 0;
        const link = Promise.withResolvers();
        const waited = Promise.withResolvers();
        const call = beam.call("text", {}, {
          timeout: 3000,
          resetTimeoutOnProgress: true,
          onprogress({ message }) {
            if (told++ === 0) link.resolve(message);
            if (told === 65) waited.resolve();
          },
        });
        const text = await link.promise;
        await waited.promise; // more than its timeout
        await settle(await signedIn, text, ada);
        assert.deepEqual((await call).structuredContent, { outcome: "accepted", value: "Ada" });
      });
    });
  }
}
