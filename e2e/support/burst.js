// A burst of numbered events, and how a page shows it.

/** prepareBurst opens the form of the photon burst, filled in with a number of events. */
export async function prepareBurst(page, events, base = "") {
  await page.goto(`${base}/photons/burst?events=${events}`);
}

export const runBurst = (page) => page.getByRole("button", { name: "Run", exact: true }).click({ noWaitAfter: true });

/**
 * shown returns what a page shows of a burst: the numbers of the statuses in its
 * timeline, how many earlier rows it counts, and whether the run has ended.
 */
export const shown = (page) =>
  page.evaluate(() => ({
    numbers: [...document.querySelectorAll("#timeline .r-status")].map((row) => Number(row.textContent.match(/event (\d+)/)[1])),
    hidden: Number(document.querySelector("#hidden").textContent.replace(/\D/g, "")),
    rows: document.querySelectorAll("#timeline > li").length,
    ended: !!document.querySelector("#timeline .r-result"),
  }));
