// Every kind of question, and everything a person can do with it.
import { test, expect } from "./support/fixtures.js";
import { expectAccessible } from "./support/axe.js";
import { kinds, submitLabel } from "./support/question-kinds.js";
import { askKitchenSink, dialog, expectEnd, expectError, expectResult, expectSet, pressButton, reopen, fillField } from "./support/run-page.js";

async function fill(scope, values) {
  for (const [name, value] of Object.entries(values)) await fillField(scope, name, value);
}

const likeOthers = new Set(["integer", "datetime"]); // like number and date

for (const [kind, { values, answer, wrong }] of Object.entries(kinds)) {
  test.describe(kind, () => {
    test.beforeEach(({ page }) => askKitchenSink(page, kind));

    test("is accessible, rejected beside the field, postponed, reopened with its draft, and accepted", { tag: likeOthers.has(kind) ? "@long" : [] }, async ({ page }) => {
      await expect(dialog(page)).toBeVisible();
      await expectAccessible(page);

      for (const { values, field, text } of wrong) {
        await test.step(`${field}: ${JSON.stringify(values[field])}`, async () => {
          await fill(dialog(page), values);
          await pressButton(dialog(page), submitLabel(kind));
          await expect(dialog(page).locator(".sending")).toBeHidden(); // until then the error may be that of the values before
          await expectError(dialog(page), field, text);
          for (const [name, value] of Object.entries(values)) await expectSet(dialog(page), name, value);
        });
      }

      await fill(dialog(page), { ...blank(wrong), ...values });
      for (const [how, park] of Object.entries({
        Later: () => pressButton(dialog(page), "Later"),
        Esc: async () => {
          await expect(dialog(page).locator(":focus")).toBeAttached(); // the focus moves after the question appears
          await page.keyboard.press("Escape");
        },
      })) {
        await test.step(`postponed with ${how}`, async () => {
          await park();
          await expect(dialog(page)).toBeHidden();
          await reopen(page);
          await expect(dialog(page)).toBeVisible();
          for (const [name, value] of Object.entries(values)) await expectSet(dialog(page), name, value);
        });
      }

      await pressButton(dialog(page), submitLabel(kind));
      await expect(dialog(page)).toBeHidden();
      await expectResult(page, answer === undefined ? { action: "accept" } : { action: "accept", answer });
      await expect(page.locator(".closed-note")).toHaveCount(0); // it was answered here
    });

    for (const action of ["decline", "cancel"]) {
      const tag = kind === "form" ? [] : "@long";
      test(`ends with ${action}, even half filled in`, { tag }, async ({ page }) => {
        await fill(dialog(page), wrong.at(-1)?.values ?? {});
        await pressButton(dialog(page), action === "decline" ? "Decline" : "Dismiss");
        await expect(dialog(page)).toBeHidden();
        await expectResult(page, { action });
      });
    }
  });
}

// blank clears the optional fields that only the invalid values fill in.
function blank(wrong) {
  const names = wrong.flatMap(({ values }) => Object.keys(values)).filter((name) => name === "website");
  return Object.fromEntries(names.map((name) => [name, ""]));
}

test("a text that is too long is rejected and not truncated", async ({ page }) => {
  await askKitchenSink(page, "text");
  await fillField(dialog(page), "text", "A".repeat(41));
  await pressButton(dialog(page), "Submit");
  await expectError(dialog(page), "text", /2 to 40 characters; this one has 41/);
  await expectSet(dialog(page), "text", "A".repeat(41));
  await fillField(dialog(page), "text", "A".repeat(40));
  await pressButton(dialog(page), "Submit");
  await expectResult(page, { action: "accept", answer: "A".repeat(40) });
});

test("the answer No to a confirm is an answer", async ({ page }) => {
  await askKitchenSink(page, "confirm");
  await pressButton(dialog(page), "No");
  await expectResult(page, { action: "accept", answer: false });
});

test.describe("several at once", () => {
  test.beforeEach(({ page }) => askKitchenSink(page, "all"));

  const name = (page) => dialog(page).filter({ has: page.locator('[name="name"]') });
  const environment = (page) => dialog(page).filter({ has: page.locator('[name="environment"]') });

  test("are answered in order", async ({ page }) => {
    await fillField(name(page), "name", "Ada");
    await pressButton(name(page), "Submit");
    await fillField(environment(page), "environment", "prod");
    await pressButton(environment(page), "Submit");
    await expectResult(page, { action: "accept", answer: { name: "Ada", environment: "prod" } });
  });

  test("are answered in the other order", async ({ page }) => {
    await pressButton(name(page), "Later");
    await fillField(environment(page), "environment", "dev");
    await pressButton(environment(page), "Submit");
    await expect(dialog(page)).toHaveCount(0);
    await reopen(page);
    await fillField(name(page), "name", "Ada");
    await pressButton(name(page), "Submit");
    await expectResult(page, { action: "accept", answer: { name: "Ada", environment: "dev" } });
  });

  test("end when one is declined and the other answered", async ({ page }) => {
    await pressButton(name(page), "Decline");
    await fillField(environment(page), "environment", "dev");
    await pressButton(environment(page), "Submit");
    await expectResult(page, { action: "decline" });
  });
});

test("a question is answered in the inbox", async ({ page, context }) => {
  await askKitchenSink(page, "text");
  const inbox = await context.newPage();
  await inbox.goto("/asks");
  await inbox.getByRole("link", { name: /^Answer/ }).click();
  await expectAccessible(inbox);
  await inbox.getByRole("textbox", { name: /Project name/ }).fill("A");
  await inbox.getByRole("button", { name: "Submit", exact: true }).click();
  await expect(inbox.locator(".in-place .field .error")).toBeVisible();
  await inbox.getByRole("textbox", { name: /Project name/ }).fill("Ada");
  await inbox.keyboard.press("Enter");
  await expect(inbox.getByRole("main")).toContainText("No questions are waiting for you.");
  await expectEnd(page, "completed");
});
