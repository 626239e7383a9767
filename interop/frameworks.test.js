// Agent frameworks whose users are asked, or whose models are told where the question
// can be answered. Over stdio, the frameworks start a Beam that joins the server.
import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";

import { browse, handoff, program, serve, settle } from "./beam.js";
import { frameworks } from "./frameworks.js";

let folder, host, cookie;
before(async () => {
  folder = await mkdtemp(join(tmpdir(), "beam-interop-"));
  host = await serve(["--ask-handoff", "300ms"], folder);
  cookie = await browse(host.signIn);
});
after(async () => {
  await host.stop();
  await rm(folder, { recursive: true });
});

const question = "Which account should Ada get?";
const declined = /declined/;

for (const transport of ["stdio", "http"]) {
  for (const { name, elicits, connect } of frameworks) {
    describe(`${name}, ${transport}`, { timeout: 30_000 }, () => {
      const to = () => (transport === "http" ? { url: host.url } : { command: program, args: ["stdio", "--data", folder] });

      if (elicits) {
        test("its user is asked", async (t) => {
          const asked = [];
          let answer = { action: "accept", content: { account: "ada@example.com" } };
          const beam = await connect(to(), (form) => (asked.push(form.message), answer));
          t.after(() => beam.close());
          assert.deepEqual(JSON.parse(await beam.call("account")), { account: "ada@example.com" });
          answer = { action: "decline" };
          assert.match(await beam.call("account"), declined);
          assert.deepEqual(asked, [question, question]);
        });
      }

      test("its model is handed the question", async (t) => {
        const beam = await connect(to());
        t.after(() => beam.close());
        for (const [fields, outcome] of [[{ account: "ada" }, /^\{"account":"ada"\}$/], [undefined, declined]]) {
          const told = await beam.call("account");
          assert.ok(told.includes(question), told);
          const [, , run] = told.match(handoff);
          await settle(cookie, told, fields);
          assert.match(await beam.call("beam_resume", { run }), outcome);
        }
      });
    });
  }
}
