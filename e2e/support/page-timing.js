// How a page bears what comes: its longest stall, and when it was done.

/**
 * watchStalls has every page of a context note the longest time between two
 * frames and the longest task, from its first frame on, and every layout shift.
 */
export const watchStalls = (context) =>
  context.addInitScript(() => {
    const seen = (globalThis.stalls = { frame: 0, task: 0, shift: 0 });
    const observe = (type, note) => new PerformanceObserver((list) => list.getEntries().forEach(note)).observe({ type, buffered: true });
    observe("longtask", (entry) => (seen.task = Math.max(seen.task, entry.duration)));
    observe("layout-shift", (entry) => (seen.shift += entry.hadRecentInput ? 0 : entry.value));
    let last;
    const frame = (now) => {
      if (last) seen.frame = Math.max(seen.frame, now - last);
      last = now;
      requestAnimationFrame(frame);
    };
    requestAnimationFrame(frame);
  });

export const stalls = (page) => page.evaluate(() => globalThis.stalls);

/** weight is how many elements a page holds, and how many bytes its script does. */
export async function weight(page) {
  const cdp = await page.context().newCDPSession(page);
  await cdp.send("HeapProfiler.collectGarbage");
  const { metrics } = await cdp.send("Performance.enable").then(() => cdp.send("Performance.getMetrics"));
  await cdp.detach();
  const metric = (name) => metrics.find((m) => m.name === name).value;
  return { nodes: metric("Nodes"), heap: metric("JSHeapUsedSize") };
}
