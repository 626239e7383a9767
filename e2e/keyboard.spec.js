// A whole run without a mouse, and as a screen reader presents it.
import { test, expect } from "./support/fixtures.js";
import { expectEnd, result } from "./support/run-page.js";

const focused = (page) => page.locator(":focus");

/** tabTo presses Tab until the element with a name has the focus. */
async function tabTo(page, name) {
  for (let n = 0; n < 60; n++) {
    if (await focused(page).evaluateAll((all, wanted) => all.some((e) => (e.labels?.[0] ?? e).textContent.trim() === wanted), name)) return;
    await page.keyboard.press("Tab");
  }
  throw new Error(`Tab does not reach ${name}`);
}

test("from the start to the result by keyboard alone", async ({ page }) => {
  await page.goto("/");
  await page.keyboard.press("Tab");
  await expect(focused(page)).toHaveText("Skip to content");
  await page.keyboard.press("Enter");
  await tabTo(page, "Setup wizard");
  await page.keyboard.press("Enter");
  await page.waitForURL(/photons\/wizard$/); // and until its script has run
  await tabTo(page, "Run"); // the tab
  await page.keyboard.press("Tab");
  await tabTo(page, "Run"); // the button
  await page.keyboard.press("Enter");
  await expect(page).toHaveURL(/\/runs\//);

  await expect(focused(page)).toHaveAttribute("name", "name");
  await page.keyboard.type("Ada Lovelace");
  await page.keyboard.press("Enter");
  await expect(focused(page)).toHaveAttribute("name", "email");
  await page.keyboard.type("ada");
  await page.keyboard.press("Control+Enter");
  await expect(focused(page)).toHaveRole("alert");
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter"); // the summary leads to the field
  await expect(focused(page)).toHaveAttribute("name", "email");
  await page.keyboard.press("End");
  await page.keyboard.type("@example.org");
  await page.keyboard.press("Tab"); // a group of radio buttons is one stop
  await expect(focused(page)).toHaveAttribute("name", "role");
  while (!(await focused(page).evaluate((e) => e.checked && e.value === "editor"))) await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Control+Enter");

  await expect(focused(page)).toContainText(/\?/);
  await tabTo(page, "Confirm");
  await page.keyboard.press("Enter");
  await expectEnd(page, "completed");
  await expect(result(page)).toContainText("Ada Lovelace");
});

test("from the start to the result by roles and names alone", async ({ page }) => {
  await page.goto("/");
  await expect(page.getByRole("banner")).toMatchAriaSnapshot(`
    - banner:
      - link "beam"
      - search:
        - searchbox "Find a photon"
      - button "Keyboard shortcuts"
      - link "Inbox"
  `);
  await page.getByRole("main").getByRole("link", { name: "Kitchen sink" }).click();
  const main = page.getByRole("main");
  await expect(main.getByRole("heading", { level: 1 })).toHaveText("Kitchen sink");
  await main.getByRole("radio", { name: "form" }).or(main.getByRole("combobox")).first().waitFor();
  const combobox = main.getByRole("combobox");
  if (await combobox.count()) await combobox.first().selectOption("form");
  else await main.getByRole("radio", { name: "form" }).check();
  await main.getByRole("button", { name: "Run" }).click();

  const question = page.getByRole("dialog", { name: "Please sign up." });
  await expect(question).toMatchAriaSnapshot(`
    - dialog "Please sign up.":
      - heading "Please sign up." [level=2]
      - textbox "Name"
      - textbox "Email"
      - spinbutton "Age"
      - group "Role":
        - radio "Developer"
        - radio "Operator"
        - radio "Designer"
        - radio "No choice" [checked]
      - group "Topics":
        - checkbox "auth"
        - checkbox "logging"
        - checkbox "metrics"
        - checkbox "tracing"
      - checkbox "Newsletter" [checked]
      - textbox "Website"
      - button "Submit"
      - button "Decline"
      - button "Cancel"
      - button "Later"
  `);
  await question.getByRole("textbox", { name: "Name" }).fill("Ada");
  await question.getByRole("textbox", { name: "Email" }).fill("ada@example.org");
  await question.getByRole("checkbox", { name: "auth" }).check();
  await question.getByRole("button", { name: "Submit" }).click();
  await expect(page.getByRole("status")).toContainText("completed");
  await expect(page.getByRole("status")).toHaveCount(1);
  await expect(page.getByRole("region", { name: "Timeline" }).getByRole("listitem").last()).toContainText("ada@example.org");
  await expect(page.getByRole("button", { name: "Run again" })).toBeVisible();
});
