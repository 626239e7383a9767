// The start: which run this view shows. It is named by the call's result, or by what
// ChatGPT kept of it; it is never guessed.
const handle = /^[0-9a-f]{32}$/;
const isHandle = (v) => typeof v === "string" && handle.test(v);

// namedRun returns the run that a result names, and whether its call was handed off.
function namedRun(result) {
  const structured = isObject(result?.structuredContent) ? result.structuredContent : {};
  if (isHandle(structured.beam_run)) return { id: structured.beam_run, tells: true };
  for (const text of texts(result)) {
    const named = /call the tool beam_resume with \{"run": "([0-9a-f]{32})"\}/.exec(text);
    if (named) return { id: named[1], tells: true };
  }
  const artifacts = [...(Array.isArray(structured.artifacts) ? structured.artifacts : []), ...(Array.isArray(result?.content) ? result.content : []).map((b) => b?.resource ?? b)];
  for (const a of artifacts) {
    const made = /^beam:\/\/runs\/([0-9a-f]{32})\/artifacts\/\d+$/.exec(a?.uri);
    if (made) return { id: made[1], tells: false };
  }
  const kept = window.openai?.toolOutput?.beam_run ?? window.openai?.widgetState?.beam_run;
  return isHandle(kept) ? { id: kept, tells: true } : undefined;
}

let started = false;

function start(named) {
  if (started) return;
  started = true;
  run.id = named.id;
  run.tells = named.tells;
  window.openai?.setWidgetState?.({ beam_run: run.id });
  follow();
}

// showNothing shows one line for a call without a run to show.
function showNothing(label, state) {
  if (started) return;
  find("#state").textContent = label;
  find("#mark").className = "mark-state " + state;
}

// offerInbox links to Beam's inbox, for a call whose run isn't known or can't be read.
async function offerInbox() {
  try {
    const { inbox } = await callTool("beam_app_read", {}, 30000);
    if (!run.seq) setLink(find("#open"), inbox);
  } catch {} // there is no link then
}

handlers["ping"] = () => ({});
handlers["ui/resource-teardown"] = () => ({});
handlers["ui/notifications/host-context-changed"] = applyContext;
handlers["ui/notifications/tool-input"] = ({ arguments: args }) => {
  if (toolName === "beam_resume" && isHandle(args?.run)) start({ id: args.run, tells: false });
};
handlers["ui/notifications/tool-cancelled"] = () => showNothing("was cancelled", "stopped");
handlers["ui/notifications/tool-result"] = (result) => {
  const named = namedRun(result);
  if (named && started && named.id === run.id) run.tells ||= named.tells;
  if (named) return start(named);
  const isEmpty = !isObject(result?.structuredContent) && !texts(result).length && !(Array.isArray(result?.content) && result.content.length);
  showNothing(isEmpty ? "ran here" : result.isError ? "failed" : "has finished", isEmpty ? "" : result.isError ? "failed" : "completed");
  if (isEmpty) offerInbox();
};

addEventListener("click", (event) => {
  const a = event.target.closest?.("a[href]");
  const button = event.target.closest?.("button[data-do]");
  if (event.target.id === "stop" && event.isTrusted) stop(event.target);
  if (a) {
    event.preventDefault();
    const target = a.getAttribute("href");
    if (target.startsWith("#")) document.getElementById(target.slice(1))?.focus();
    else {
      openLink(a);
      if (a.matches(".open-address") && event.isTrusted) for (const label of a.closest("[data-ask]")?.querySelectorAll(".unopened, .opened") ?? []) label.hidden = label.matches(".unopened");
    }
  } else if (button && event.isTrusted) {
    answer(button.closest("[data-ask]"), button);
  }
});

// openLink has the host open an address. A host that doesn't gets it shown instead.
async function openLink(a) {
  try {
    const result = await request("ui/open-link", { url: a.href }, 30000);
    if (result.isError) throw new Error();
  } catch {
    find("#note").hidden = false;
    find("#note").textContent = "Open this address: " + a.href;
  }
}

// Without forms, Enter in a field does what the first button does.
addEventListener("keydown", (event) => {
  const field = event.target;
  if (event.key !== "Enter" || event.isComposing || !event.isTrusted || !field.matches?.("input:not([type=checkbox], [type=radio]), select")) return;
  const button = field.closest("[data-ask]")?.querySelector("button[data-do=accept]");
  if (!button) return;
  event.preventDefault();
  answer(button.closest("[data-ask]"), button);
});

let toolName = "";
(async () => {
  const hello = await request("ui/initialize", { protocolVersion: "2026-01-26", appInfo: { name: "beam", version: "1" }, appCapabilities: { availableDisplayModes: ["inline"] } });
  toolName = hello.hostContext?.toolInfo?.tool?.name ?? "";
  applyContext(hello.hostContext);
  notify("ui/notifications/initialized", {});
  new ResizeObserver(reportSize).observe(find("main"));
  const kept = namedRun(undefined);
  if (kept) start(kept);
})();
