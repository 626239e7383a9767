// Notices of the browser, on request, that questions wait. They say how many, and nothing
// of the questions: others may see the screen. Whether this browser wants them is kept in it.

import { find } from "./dom.js";
import { browserStorage } from "./storage.js";

const storageKey = "beam-notices";
const available = "Notification" in window && window.isSecureContext;
const isOn = () => available && Notification.permission === "granted" && browserStorage.get(storageKey) === true;

const countOpen = () => Number(find("#inbox .badge")?.textContent.replace(/\D/g, "") ?? 0);
let known = countOpen();

/** noticeQuestions tells of questions that are new, unless the person is looking at the page. */
export function noticeQuestions() {
  const before = known;
  known = countOpen();
  if (known <= before || !document.hidden || !isOn()) return;
  const text = known === 1 ? "A question waits for you." : `${known} questions wait for you.`;
  // The same tag in all tabs: only one notice is shown.
  const notice = new Notification("Beam", { body: text, tag: "beam-questions" });
  notice.onclick = () => {
    window.focus();
    location.assign(find("#inbox").href);
  };
}

/** initNotices shows the button of the inbox that turns notices on and off. */
export function initNotices() {
  const button = find("#notices");
  if (!button || !available) return;
  const show = () => {
    button.hidden = false;
    button.setAttribute("aria-pressed", String(isOn()));
    if (Notification.permission === "denied") {
      button.disabled = true;
      button.textContent = "This browser blocks notifications";
    }
  };
  button.addEventListener("click", async () => {
    const wanted = !isOn();
    if (wanted) await Notification.requestPermission();
    browserStorage.set(storageKey, wanted);
    show();
  });
  show();
}
