// A whole run without a mouse, and as a screen reader presents it.
import { test, expect } from "./support/fixtures.js";

const focused = (page) => page.locator(":focus");

/**
 * hiddenFocus says what is wrong with the element that has the focus: it must be in sight, not
 * covered, and marked. It is empty if nothing is wrong. It runs in the page.
 */
function hiddenFocus([e]) {
  if (!e) return "nothing has the focus";
  const what = e.outerHTML.slice(0, 120);
  const shown = e.matches("[type=radio], [type=checkbox]") ? (e.closest("label") ?? e) : e;
  const { left, top, width, height } = shown.getBoundingClientRect();
  const at = document.elementFromPoint(left + Math.min(width / 2, 20), top + Math.min(height / 2, 20));
  if (!at || !(shown.contains(at) || at.contains(shown))) return `out of sight or covered by ${at?.outerHTML.slice(0, 120)}: ${what}`;
  const { outlineStyle, boxShadow } = getComputedStyle(e);
  return e.matches(":focus-visible") && (outlineStyle !== "none" || boxShadow !== "none") ? "" : `not marked: ${what}`;
}

const expectFocusSeen = (page) => expect.poll(() => focused(page).evaluateAll(hiddenFocus)).toBe("");

/** tabTo presses Tab until an element with a role and a name has the focus, and expects to see the focus all the way. */
async function tabTo(page, role, name) {
  const wanted = page.getByRole(role, { name, exact: true });
  for (let n = 0; n < 60; n++) {
    await page.keyboard.press("Tab");
    if (await focused(page).count() === 0) continue; // the browser's own controls
    await expectFocusSeen(page);
    if (await wanted.evaluateAll((all) => all.includes(document.activeElement))) return;
  }
  throw new Error(`Tab does not reach ${role} ${name}`);
}

test("from finding a tool to its result by keyboard alone", async ({ page }) => {
  await page.goto("/");
  await page.keyboard.press("Tab");
  await expect(focused(page)).toHaveText("Skip to content");
  await expectFocusSeen(page);
  await page.keyboard.press("Control+k");
  await expect(focused(page)).toHaveRole("combobox");
  await page.keyboard.type("wizard");
  await expect(page.getByRole("option", { selected: true })).toContainText("Setup wizard");
  await page.keyboard.press("Enter");
  await page.waitForURL(/photons\/wizard$/); // and until its script has run
  await tabTo(page, "button", "Run");
  await page.keyboard.press("Enter");

  await expect(focused(page)).toHaveAttribute("name", "name");
  await expectFocusSeen(page);
  await page.keyboard.type("Ada Lovelace");
  await page.keyboard.press("Enter");
  await expect(focused(page)).toHaveAttribute("name", "email");
  await expectFocusSeen(page);
  await page.keyboard.type("ada");
  await page.keyboard.press("Control+Enter");
  await expect(focused(page)).toHaveRole("alert");
  await page.keyboard.press("Tab");
  await expectFocusSeen(page);
  await page.keyboard.press("Enter"); // the summary leads to the field
  await expect(focused(page)).toHaveAttribute("name", "email");
  await page.keyboard.press("End");
  await page.keyboard.type("@example.org");
  await page.keyboard.press("Escape"); // later
  await expect(focused(page)).toHaveAccessibleName(/^Answer/);
  await expectFocusSeen(page);
  await page.keyboard.press("Enter");
  await expect(focused(page)).toHaveAttribute("name", "role"); // which still needs an answer
  await expectFocusSeen(page);
  await page.keyboard.press("ArrowDown");
  await expect(page.getByRole("radio", { name: "Editor" })).toBeFocused();
  await page.keyboard.press("Space");
  await page.keyboard.press("Control+Enter");

  await expect(focused(page)).toHaveRole("heading"); // a confirmation is read first
  await tabTo(page, "button", "Confirm");
  await page.keyboard.press("Enter");
  await expect(page.getByRole("region", { name: "Timeline" }).getByRole("listitem").last()).toContainText("Ada Lovelace");
  await expect(page.getByRole("dialog")).toHaveCount(0);
  await expect(focused(page)).toHaveCount(1); // the focus isn't lost with the question
  await tabTo(page, "link", "Messages");
  await page.keyboard.press("Enter");
  await page.waitForURL(/\/messages$/);
});

test("from finding a tool to its result by roles and names alone", async ({ page }) => {
  // said are the announcements of the page's live regions.
  await page.addInitScript(() => {
    globalThis.said = [];
    const regions = "[role=status], [role=alert], [aria-live]";
    new MutationObserver((changes) => {
      for (const { target, addedNodes } of changes) {
        const around = (target.closest ? target : target.parentElement)?.closest(regions);
        const added = [...addedNodes].flatMap((e) => (e.matches?.(regions) ? [e] : [...(e.querySelectorAll?.(regions) ?? [])]));
        for (const region of around ? [around] : added) {
          const text = region.innerText.trim();
          if (text && said.at(-1) !== text) said.push(text);
        }
      }
    }).observe(document, { childList: true, characterData: true, subtree: true });
  });
  const said = () => page.evaluate(() => said.splice(0));
  await page.goto("/");
  await expect(page.getByRole("banner")).toMatchAriaSnapshot(`
    - banner:
      - link "beam"
      - search:
        - searchbox "Find a photon"
      - button "Keyboard shortcuts"
      - link "Inbox"
  `);
  await page.getByRole("searchbox", { name: "Find a photon" }).fill("wizard");
  await page.getByRole("main").getByRole("link", { name: "Setup wizard" }).click();
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("Setup wizard");
  await page.getByRole("button", { name: "Run", exact: true }).click();
  await page.waitForURL(/\/runs\/[^/]+$/); // and until its script has run

  const name = page.getByRole("dialog", { name: "What is your name?" });
  await expect(name).toMatchAriaSnapshot(`
    - dialog "What is your name?":
      - heading "What is your name?" [level=2]
      - textbox "Name"
      - paragraph: 1 to 80 characters
      - button "Submit"
      - button "Decline"
      - button "Dismiss"
      - button "Later"
  `);
  await expect(page.getByRole("status")).toHaveText("1 question waits: What is your name?");
  await said();
  await name.getByRole("textbox", { name: "Name" }).fill("Ada Lovelace");
  await name.getByRole("button", { name: "Submit" }).click();

  const account = page.getByRole("dialog", { name: "Which account should Ada Lovelace get?" });
  await expect(account).toMatchAriaSnapshot(`
    - dialog "Which account should Ada Lovelace get?":
      - heading "Which account should Ada Lovelace get?" [level=2]
      - textbox "Email"
      - group "Role required":
        - radio "Viewer"
        - radio "Editor"
        - radio "Administrator"
      - button "Submit"
  `);
  await account.getByRole("button", { name: "Submit" }).click();
  await expect(account.getByRole("alert")).toMatchAriaSnapshot(`
    - alert:
      - paragraph: Fix 2 fields
      - list:
        - listitem:
          - link "Enter an email"
        - listitem:
          - link "Choose a role"
  `);
  await expect(account.getByRole("textbox", { name: "Email" })).toHaveAccessibleDescription(/Enter an email/);
  await expect(account.getByRole("group", { name: /^Role/ })).toHaveAccessibleDescription(/Choose a role/);
  await account.getByRole("textbox", { name: "Email" }).fill("ada@example.org");
  await account.getByRole("radio", { name: "Editor" }).check();
  await account.getByRole("button", { name: "Submit" }).click();

  await page.getByRole("dialog", { name: /is this correct\?$/ }).getByRole("button", { name: "Confirm" }).click();
  const timeline = page.getByRole("region", { name: "Timeline" });
  await expect(timeline.getByRole("listitem").last()).toContainText("Ada Lovelace");
  await expect(page.getByRole("status")).toHaveText("The run is completed.");
  await expect(page.getByRole("button", { name: "Run again" })).toBeVisible();
  await expect(page.getByRole("navigation", { name: "This run" }).getByRole("link", { name: "Timeline" })).toHaveAttribute("aria-current", "page");

  // Each change was announced once, and nothing else was. That the run goes on may have been passed over.
  expect((await said()).filter((text) => text !== "The run is in progress.")).toEqual([
    "1 question waits: Which account should Ada Lovelace get?",
    expect.stringMatching(/^Fix 2 fields/),
    expect.stringMatching(/^1 question waits: .*is this correct\?$/),
    "The run is completed.",
  ]);
});
