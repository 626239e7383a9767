// The host: JSON-RPC 2.0 by postMessage with the window that holds this frame. Messages of
// any other window are ignored.
const host = window.parent;
const waiting = new Map();
const handlers = {};
let lastID = 0;

const post = (message) => host.postMessage({ jsonrpc: "2.0", ...message }, "*");
const notify = (method, params) => post({ method, params });

function request(method, params, timeout) {
  const id = ++lastID;
  return new Promise((resolve, reject) => {
    const timer = timeout && setTimeout(() => settle(id, { error: { message: "the host did not respond" } }), timeout);
    waiting.set(id, { resolve, reject, timer });
    post({ id, method, params });
  });
}

function settle(id, { result, error }) {
  const w = waiting.get(id);
  if (!w) return;
  waiting.delete(id);
  clearTimeout(w.timer);
  if (error) w.reject(new Error(String(error.message ?? "the host refused")));
  else w.resolve(result ?? {});
}

addEventListener("message", (event) => {
  const m = event.data;
  if (event.source !== host || m?.jsonrpc !== "2.0") return;
  if (typeof m.method !== "string") return settle(m.id, m);
  const handle = Object.hasOwn(handlers, m.method) ? handlers[m.method] : undefined;
  if (m.id === undefined) return handle?.(m.params ?? {});
  if (handle) post({ id: m.id, result: handle(m.params ?? {}) ?? {} });
  else post({ id: m.id, error: { code: -32601, message: "method not found" } });
});

// callTool calls a tool of Beam's. The result is structured content or, if the host drops
// it, the same as text.
async function callTool(name, args, timeout) {
  const result = await request("tools/call", { name, arguments: args }, timeout);
  const data = isObject(result.structuredContent) ? result.structuredContent : parse(firstText(result));
  if (result.isError || !isObject(data)) throw new Error(data?.error ?? firstText(result) ?? "the host returned nothing");
  return data;
}

const isObject = (v) => typeof v === "object" && v !== null && !Array.isArray(v);
const texts = (result) => (Array.isArray(result?.content) ? result.content : []).filter((b) => b?.type === "text" && typeof b.text === "string").map((b) => b.text);
const firstText = (result) => texts(result)[0];

function parse(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

// The host's colors and fonts, for ours. What it doesn't name stays ours.
const themed = {
  "--paper": "--color-background-primary", "--raised": "--color-background-primary", "--sunk": "--color-background-secondary",
  "--ink": "--color-text-primary", "--soft": "--color-text-secondary", "--line": "--color-border-secondary",
  "--text": "--font-sans", "--mono": "--font-mono", "--round": "--border-radius-md",
};

function applyContext(context) {
  const root = document.documentElement.style;
  if (context?.theme === "light" || context?.theme === "dark") root.colorScheme = context.theme;
  const given = context?.styles?.variables;
  if (!isObject(given)) return;
  for (const [own, theirs] of Object.entries(themed)) {
    if (typeof given[theirs] === "string" && CSS.supports("color", given[theirs]) === own.match(/paper|raised|sunk|ink|soft|line/) !== null) root.setProperty(own, given[theirs]);
  }
}

function reportSize() {
  const { width, height } = document.querySelector("main").getBoundingClientRect();
  notify("ui/notifications/size-changed", { width: Math.ceil(width), height: Math.ceil(height) });
}
