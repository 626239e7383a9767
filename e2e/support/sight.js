// What a person can see and press: nothing covers it, and it isn't cut off.
import { expect } from "./fixtures.js";
import { sizes } from "./screenshots.js";

/** windows are the sizes of the screenshots, a phone on its side, and a window at 200 %. */
export const windows = {
  ...sizes,
  "large phone": { width: 390, height: 844 },
  "phone on its side": { width: 740, height: 360 },
  "at 200 %": { width: 640, height: 400 },
};

/**
 * covered returns what is wrong with where an element is: it is outside the window, or something
 * else is at its beginning: at the top, in the middle or at the bottom of it. Of what is taller than half
 * of the window, the upper part counts. It runs in the page.
 */
function covered(e) {
  const box = e.getBoundingClientRect();
  const bottom = Math.min(box.bottom, box.top + innerHeight / 2), x = box.left + Math.min(box.width / 2, 10);
  for (const [where, y] of Object.entries({ top: box.top + 2, middle: (box.top + bottom) / 2, bottom: bottom - 2 })) {
    const hit = document.elementFromPoint(x, y);
    if (hit && (e.contains(hit) || hit.contains(e) && hit.matches("label, summary, li, .row, figure"))) continue;
    const name = (n) => n ? `${n.tagName.toLowerCase()}${n.id && "#" + n.id}.${n.className}` : "nothing of the page";
    return `${name(e)}: at its ${where} (${Math.round(x)}, ${Math.round(y)}) is ${name(hit)}`;
  }
  return "";
}

/** expectInSight expects an element to be in sight, and nothing to cover it. */
export const expectInSight = (element) => expect.poll(() => element.evaluate(covered)).toBe("");

/** expectFocusInSight expects the control with the focus to be in sight: also a part of one, as of a date, for which :focus isn't. */
export const expectFocusInSight = async (page) => expectInSight(await page.evaluateHandle(() => document.activeElement));

/**
 * expectFocusesInSight goes through a part of a page with a key, and expects each control that gets the
 * focus to be in sight. It returns how many there were.
 */
export async function expectFocusesInSight(page, part, key) {
  const isInside = () => part.evaluate((e) => e.contains(document.activeElement) && document.activeElement !== e);
  let n = 0;
  for (; await isInside(); n++) {
    await expectFocusInSight(page);
    await page.keyboard.press(key);
  }
  return n;
}
