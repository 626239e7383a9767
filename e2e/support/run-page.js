// What a person does on a run's page.
import { expect } from "./fixtures.js";

/** startRun fills in a photon's form, presses Run and waits for the run's page and its script. */
export async function startRun(page, photon, input = {}, base = "") {
  await page.goto(`${base}/photons/${photon}`);
  for (const [name, value] of Object.entries(input)) await fillField(page.getByRole("main"), name, value);
  await page.getByRole("button", { name: "Run", exact: true }).click();
  await page.waitForURL(/\/runs\/[^/]+$/); // and until its script has run: before, a form is sent as without it
}

/** askKitchenSink starts a run that asks one kind of question. */
export const askKitchenSink = (page, kind, base) => startRun(page, "kitchen_sink", { ask: kind }, base);

/** dialog returns the open questions, or those that contain a text. */
export function dialog(page, text) {
  const dialogs = page.getByRole("dialog");
  return text ? dialogs.filter({ hasText: text }) : dialogs;
}

/** pressButton presses a button of a question. */
export const pressButton = (question, name) =>
  question.getByRole("button", { name, exact: true }).click();

/**
 * copyWith presses a button that copies, and waits until it has said so. It does for a moment
 * only, which whoever looks from time to time may miss.
 */
export async function copyWith(button, press = () => button.click()) {
  const changed = await button.evaluateHandle((e) => ({
    said: new Promise((resolve) => new MutationObserver(() => resolve(e.textContent)).observe(e, { childList: true })),
  }));
  await press();
  expect(await changed.evaluate(({ said }) => said)).toBe("Copied");
}

/** field returns the control, or the first of several, with a name. */
export const field = (scope, name) => scope.locator(`[name="${name}"]`).first();

/** boxes returns the radio buttons or checkboxes with a name. */
const boxes = (scope, name) => scope.locator(`input[name="${name}"]`);

/**
 * fillField fills in a control with a text, a choice, a list of choices, a boolean or
 * a file ({path} or Playwright's {name, mimeType, buffer}).
 */
export async function fillField(scope, name, value) {
  const control = field(scope, name);
  await expect(control).toBeAttached();
  const kind = await control.evaluate((e) => (e.tagName === "INPUT" ? e.type : e.tagName));
  switch (kind) {
    case "SELECT":
      return control.selectOption(value);
    case "file":
      return control.setInputFiles(value.path ?? value);
    case "radio":
      return scope.locator(`input[name="${name}"][value="${value}"]`).check();
    case "checkbox":
      return check(boxes(scope, name), value);
    default:
      return control.fill(String(value));
  }
}

async function check(boxes, value) {
  for (const box of await boxes.all()) {
    const on = Array.isArray(value) ? value.includes(await box.getAttribute("value")) : value;
    await box.setChecked(on);
  }
}

/** expectSet expects a control to have the value that fillField sets. */
export async function expectSet(scope, name, value) {
  const control = field(scope, name);
  const kind = await control.evaluate((e) => (e.tagName === "INPUT" ? e.type : e.tagName));
  switch (kind) {
    case "SELECT":
      return Array.isArray(value)
        ? expect(control).toHaveValues(value)
        : expect(control).toHaveValue(value);
    case "file":
      return expect
        .poll(() => control.evaluate((e) => Array.from(e.files, (f) => f.name)))
        .toEqual([value.name]);
    case "radio":
    case "checkbox": {
      const want = Array.isArray(value) ? value : typeof value === "boolean" ? null : [value];
      if (!want) return expect(control).toBeChecked({ checked: value });
      return expect
        .poll(() => boxes(scope, name).evaluateAll((all) => all.filter((b) => b.checked).map((b) => b.value)))
        .toEqual(want);
    }
    default:
      return expect(control).toHaveValue(String(value));
  }
}

/**
 * expectError expects a control to be marked as wrong and to say why. Of
 * several boxes it is their group that says so.
 */
export async function expectError(scope, name, text) {
  const control = field(scope, name);
  if (["radio", "checkbox"].includes(await control.getAttribute("type"))) {
    return expect(control.locator("xpath=ancestor::fieldset[1]")).toHaveAccessibleDescription(text);
  }
  await expect(control).toHaveAttribute("aria-invalid", "true");
  await expect(control).toHaveAccessibleDescription(text);
}

/** reopen reopens a postponed question from its row in the timeline. */
export const reopen = (page) => page.getByRole("link", { name: /^Answer/ }).click();

/** stop presses Stop. */
export const stop = (page) => page.getByRole("button", { name: "Stop", exact: true }).click();

/** result returns the timeline's last row, which shows how the run ended. */
export const result = (page) => page.locator("#timeline .r-result");

/** expectEnd expects the run to end in a state, such as "completed". */
export async function expectEnd(page, state) {
  await expect(result(page)).toContainText(state);
  await expect(page.getByRole("button", { name: "Stop", exact: true })).toHaveCount(0);
}

/** expectResult expects the run to complete with a result that contains want. */
export async function expectResult(page, want) {
  await expectEnd(page, "completed");
  expect(await result(page).locator(".json > *").evaluate(readTree)).toMatchObject(want);
}

// readTree parses the JSON that a tree shows. It runs in the page.
function readTree(node) {
  if (node.matches(".leaf")) return JSON.parse(node.lastChild.textContent);
  const members = Array.from(node.querySelector(":scope > .members").children, (member) => [
    member.querySelector(":scope > .na, :scope > summary > .na").textContent,
    readTree(member),
  ]);
  const isList = node.querySelector("summary > .faint").textContent.startsWith("[");
  return isList ? members.map(([, value]) => value) : Object.fromEntries(members);
}
