// What the browser keeps for this tab, and for all of its tabs.

/** safeStorage wraps a storage area and ignores errors: it may be full or forbidden. */
const safeStorage = (area) => ({
  get: (key) => { try { return JSON.parse(area().getItem(key)); } catch { return null; } },
  set: (key, value) => { try { area().setItem(key, JSON.stringify(value)); } catch { /* full or forbidden */ } },
  drop: (key) => { try { area().removeItem(key); } catch { /* forbidden */ } },
  keys: () => { try { return Object.keys(area()); } catch { return []; } },
});
export const tabStorage = safeStorage(() => sessionStorage);
export const browserStorage = safeStorage(() => localStorage);
