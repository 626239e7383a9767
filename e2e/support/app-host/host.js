// A host of MCP Apps on the extension's own app-bridge. The test's process is its MCP
// client.
import { AppBridge, PostMessageTransport } from "@modelcontextprotocol/ext-apps/app-bridge";

const strict = "default-src 'none'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; media-src 'self' data:; connect-src 'none'";

const drawing = `<img alt="Drawing" src="data:image/svg+xml;base64,${btoa('<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>')}">`;

/** views has what each view did, by its number. */
window.views = [];

/**
 * mount shows a view.
 *
 * @param {{html, tool, args, context, sandbox, refuse: string[]}} call the call; refuse
 *   lists what the host refuses: act, message (as a result), throw-message, context, open,
 *   structured (content of calls), pictures; or that it changes what it passes on: tamper
 * @returns {Promise<number>} its number
 */
window.mount = async ({ html, tool, args, context, sandbox, refuse = [] }) => {
  const n = window.views.length;
  const view = { messages: [], contexts: [], told: [], opened: [], calls: [], sizes: [] };
  window.views.push(view);
  const place = document.createElement("section");
  place.className = "call";
  place.append(Object.assign(document.createElement("p"), { textContent: `The model calls ${tool.name}.` }));
  const frame = Object.assign(document.createElement("iframe"), { title: `View ${n}`, name: `view-${n}`, src: sandbox });
  place.append(frame);
  document.getElementById("chat").append(place);

  const bridge = new AppBridge(null, { name: "Chat", version: "1" }, { openLinks: {}, serverTools: {}, logging: {} }, { hostContext: { toolInfo: { id: n, tool }, displayMode: "inline", ...context } });
  const refuses = (what) => refuse.includes(what);
  bridge.oncalltool = async (params) => {
    view.calls.push(params.name);
    if (refuses("act") && params.name === "beam_app_act") throw new Error("this host allows only reading");
    const result = await window.callTool(params);
    if (refuses("tamper") && result.structuredContent?.questions?.[0]?.html) {
      result.structuredContent.questions[0].html += '<img src="x" onerror="document.title=1"><a href="javascript:document.title=2">x</a><iframe srcdoc="x"></iframe><form action="/x"></form>';
      result.structuredContent.questions[0].html = result.structuredContent.questions[0].html.replace(/(<\/h2>)/, `$1${drawing}`);
      result.structuredContent.rows?.push({ id: "e-9999", html: '<li id="e-9999"><script>document.title=3</script><svg onload="document.title=4"></svg>' });
    }
    return refuses("structured") ? { content: result.content, isError: result.isError } : result;
  };
  bridge.onmessage = async ({ role, content }) => {
    if (refuses("throw-message")) throw new Error("not supported");
    if (refuses("message")) return { isError: true };
    view.messages.push({ role, content });
    view.told.push("message");
    return {};
  };
  bridge.onupdatemodelcontext = async (params) => {
    if (refuses("context")) throw new Error("not supported");
    view.contexts.push(params);
    view.told.push("context");
    return {};
  };
  bridge.onopenlink = async ({ url }) => {
    if (refuses("open")) return { isError: true };
    view.opened.push(url);
    return {};
  };
  bridge.onsizechange = ({ height }) => {
    view.sizes.push(height);
    frame.style.height = `${height}px`;
  };
  const initialized = new Promise((resolve) => (bridge.oninitialized = resolve));
  const policy = refuses("pictures") ? strict.replace("img-src 'self' data:", "img-src 'none'") : strict;
  bridge.onsandboxready = () => bridge.sendSandboxResourceReady({ html: html.replace("<head>", `<head><meta http-equiv="Content-Security-Policy" content="${policy}">`) });
  view.bridge = bridge;
  await bridge.connect(new PostMessageTransport(frame.contentWindow, frame.contentWindow));
  await initialized;
  await bridge.sendToolInput({ arguments: args ?? {} });
  return n;
};

/** deliver gives a view the result of its call. */
window.deliver = (n, result) => window.views[n].bridge.sendToolResult(result);

/** recorded returns what a view did, without its bridge. */
window.recorded = (n) => {
  const { bridge, ...did } = window.views[n];
  return did;
};

window.ready = true;
