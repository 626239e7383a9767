// How responsive a page is: its longest stalls and its size.

/**
 * watchStalls records, on every page of a context, the longest time between two frames,
 * the longest task, and the sum of layout shifts.
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

export const readStalls = (page) => page.evaluate(() => globalThis.stalls);

/** measurePage returns the number of nodes of a page and the size of its heap in bytes. */
export async function measurePage(page) {
  const cdp = await page.context().newCDPSession(page);
  await cdp.send("HeapProfiler.collectGarbage");
  const { metrics } = await cdp.send("Performance.enable").then(() => cdp.send("Performance.getMetrics"));
  await cdp.detach();
  const metric = (name) => metrics.find((m) => m.name === name).value;
  return { nodes: metric("Nodes"), heap: metric("JSHeapUsedSize") };
}

/** loadedBytes opens a page as on a first visit, and returns how many bytes the browser loaded for it. */
export async function loadedBytes(page, path) {
  const cdp = await page.context().newCDPSession(page);
  let loaded = 0;
  cdp.on("Network.loadingFinished", (event) => (loaded += event.encodedDataLength));
  await cdp.send("Network.enable");
  await cdp.send("Network.setCacheDisabled", { cacheDisabled: true });
  await page.goto(path);
  await cdp.detach();
  return loaded;
}
