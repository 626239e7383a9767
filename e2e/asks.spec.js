// Every kind of question, and everything that a person may do with it.
import { test, expect } from "./support/fixtures.js";
import { kinds, verb } from "./support/question-kinds.js";
import { askKitchenSink, dialog, expectError, expectResult, expectSet, press, reopen, set } from "./support/run-page.js";

async function fill(scope, values) {
  for (const [name, value] of Object.entries(values)) await set(scope, name, value);
}

for (const [kind, { values, answer, wrong }] of Object.entries(kinds)) {
  test.describe(kind, () => {
    test.beforeEach(({ page }) => askKitchenSink(page, kind));

    test("is accepted", async ({ page }) => {
      await fill(dialog(page), values);
      await press(dialog(page), verb(kind));
      await expect(dialog(page)).toBeHidden();
      await expectResult(page, answer === undefined ? { action: "accept" } : { action: "accept", answer });
    });

    test("is declined, even half filled in", async ({ page }) => {
      await fill(dialog(page), wrong.at(-1)?.values ?? {});
      await press(dialog(page), "Decline");
      await expect(dialog(page)).toBeHidden();
      await expectResult(page, { action: "decline" });
    });

    test("is cancelled, even half filled in", async ({ page }) => {
      await fill(dialog(page), wrong.at(-1)?.values ?? {});
      await press(dialog(page), "Cancel");
      await expect(dialog(page)).toBeHidden();
      await expectResult(page, { action: "cancel" });
    });

    for (const [how, park] of Object.entries({
      Later: (page) => press(dialog(page), "Later"),
      Esc: async (page) => {
        await expect(dialog(page).locator(":focus")).toBeAttached(); // it comes to a question a moment after it
        await page.keyboard.press("Escape");
      },
    })) {
      test(`is parked with ${how} and reopened with what was typed`, async ({ page }) => {
        await fill(dialog(page), values);
        await park(page);
        await expect(dialog(page)).toBeHidden();
        await reopen(page);
        await expect(dialog(page)).toBeVisible();
        for (const [name, value] of Object.entries(values)) await expectSet(dialog(page), name, value);
        await press(dialog(page), verb(kind));
        await expectResult(page, { action: "accept" });
      });
    }

    if (wrong.length > 0) {
      test("is refused beside the field, and mended", async ({ page }) => {
        for (const { values, field, says } of wrong) {
          await test.step(`${field}: ${JSON.stringify(values[field])}`, async () => {
            await fill(dialog(page), values);
            await press(dialog(page), verb(kind));
            await expectError(dialog(page), field, says);
            for (const [name, value] of Object.entries(values)) await expectSet(dialog(page), name, value);
          });
        }
        await fill(dialog(page), { ...blank(wrong), ...values });
        await press(dialog(page), verb(kind));
        await expectResult(page, { action: "accept" });
      });
    }
  });
}

// blank empties the optional fields that only the wrong values fill in.
function blank(wrong) {
  const names = wrong.flatMap(({ values }) => Object.keys(values)).filter((name) => name === "website");
  return Object.fromEntries(names.map((name) => [name, ""]));
}

test("a text that is too long is refused, and nothing of it is cut off", async ({ page }) => {
  await askKitchenSink(page, "text");
  await set(dialog(page), "text", "A".repeat(41));
  await press(dialog(page), "Submit");
  await expectError(dialog(page), "text", /at most 40 characters/);
  await expectSet(dialog(page), "text", "A".repeat(41));
  await set(dialog(page), "text", "A".repeat(40));
  await press(dialog(page), "Submit");
  await expectResult(page, { action: "accept", answer: "A".repeat(40) });
});

test("the answer No to a confirm is an answer", async ({ page }) => {
  await askKitchenSink(page, "confirm");
  await press(dialog(page), "No");
  await expectResult(page, { action: "accept", answer: false });
});

test.describe("several at once", () => {
  test.beforeEach(({ page }) => askKitchenSink(page, "all"));

  const name = (page) => dialog(page).filter({ has: page.locator('[name="name"]') });
  const environment = (page) => dialog(page).filter({ has: page.locator('[name="environment"]') });

  test("are answered one after the other", async ({ page }) => {
    await set(name(page), "name", "Ada");
    await press(name(page), "Submit");
    await set(environment(page), "environment", "prod");
    await press(environment(page), "Submit");
    await expectResult(page, { action: "accept", answer: { name: "Ada", environment: "prod" } });
  });

  test("are answered in the other order", async ({ page }) => {
    await press(name(page), "Later");
    await set(environment(page), "environment", "dev");
    await press(environment(page), "Submit");
    await expect(dialog(page)).toHaveCount(0);
    await reopen(page);
    await set(name(page), "name", "Ada");
    await press(name(page), "Submit");
    await expectResult(page, { action: "accept", answer: { name: "Ada", environment: "dev" } });
  });

  test("go on when one is declined and the other answered", async ({ page }) => {
    await press(name(page), "Decline");
    await set(environment(page), "environment", "dev");
    await press(environment(page), "Submit");
    await expectResult(page, { action: "decline" });
  });
});
