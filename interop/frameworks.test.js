// Agent frameworks whose users are asked, or whose models are told where the question
// can be answered. Over stdio, the frameworks start a Beam that joins the server.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";

import { browse, handoff, serveFolder, settle } from "./beam.js";
import { frameworks } from "./frameworks.js";

let host, cookie;
before(async () => {
  host = await serveFolder();
  cookie = await browse(host.signIn);
});
after(() => host.stop());

const question = "Which account should Ada get?";
const asks = `${question}\n\nThis question is lost if Beam restarts.`;
const declined = /The user declined "Which account should Ada get\?"\. Don't ask again unless the user wants to\./;

// The clients mostly wait, so they run at once.
describe("frameworks", { concurrency: true }, () => {
  for (const transport of ["stdio", "http"]) {
    for (const { name, elicits, connect } of frameworks) {
      describe(`${name}, ${transport}`, { timeout: 120_000 }, () => {
        if (elicits) {
          test("its user is asked", async (t) => {
            const asked = [];
            let answer = { action: "accept", content: { account: "ada@example.com" } };
            const beam = await connect(host.to(transport), (form) => (asked.push(form.message), answer));
            t.after(() => beam.close());
            assert.deepEqual(JSON.parse(await beam.call("account")), { account: "ada@example.com" });
            answer = { action: "decline" };
            assert.match(await beam.call("account"), declined);
            assert.deepEqual(asked, [asks, asks]);
          });
        }

        test("its model is handed the question", async (t) => {
          const beam = await connect(host.to(transport));
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
});
