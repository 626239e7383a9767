// The run: reading it, showing it, and answering its questions.
const find = (selector) => document.querySelector(selector);
const run = { id: "", seq: 0, state: "", ended: false, tells: true, clicked: false, busy: 0 };

// fragment parses HTML of Beam's pages. It is escaped there; what could run or load
// anything is removed all the same.
function fragment(html) {
  const template = document.createElement("template");
  template.innerHTML = html;
  for (const el of template.content.querySelectorAll("*")) {
    if (/^(script|style|link|meta|base|iframe|object|embed|form|noscript|template|animate.*|set)$/i.test(el.localName)) {
      el.remove();
      continue;
    }
    for (const { name, value } of [...el.attributes]) {
      const allowed = /^src$/i.test(name) ? /^data:image\//i : /^(href|action|formaction|srcset|xlink:href)$/i.test(name) ? /^(https?:|#)/i : /^/;
      if (/^on|^style$/i.test(name) || !allowed.test(value)) el.removeAttribute(name);
    }
  }
  for (const picture of template.content.querySelectorAll("img")) picture.addEventListener("error", () => draw(picture), { once: true });
  return template.content;
}

// draw replaces a picture that the host's policy doesn't let the view load, not even as
// part of it. A canvas loads nothing: it gets the decoded bytes. It shows neither
// animations nor vector graphics.
async function draw(picture) {
  const canvas = Object.assign(document.createElement("canvas"), { className: picture.className });
  canvas.setAttribute("role", "img");
  canvas.setAttribute("aria-label", picture.alt);
  try {
    const [, type, encoded] = /^data:([^;,]+);base64,(.*)$/.exec(picture.src);
    const bytes = Uint8Array.from(atob(encoded), (c) => c.charCodeAt(0));
    const bitmap = await createImageBitmap(new Blob([bytes], { type }));
    Object.assign(canvas, { width: bitmap.width, height: bitmap.height });
    canvas.getContext("2d").drawImage(bitmap, 0, 0);
    bitmap.close();
    picture.replaceWith(canvas);
  } catch {
    picture.replaceWith(Object.assign(document.createElement("p"), { className: "faint unseen", textContent: `The picture “${picture.alt}” can’t be shown here. Open Beam’s page to see it.` }));
  }
}

const ordinal = (id) => Number(/^e-(\d+)$/.exec(id)?.[1]);

function showRow({ id, html }) {
  const row = fragment(html).firstElementChild;
  const seq = ordinal(id);
  if (!row || !seq) return;
  const rows = find("#rows");
  const old = [...rows.children].find((r) => r.id === id);
  if (old) return old.replaceWith(row);
  rows.insertBefore(row, [...rows.children].find((r) => ordinal(r.id) > seq) ?? null);
  while (rows.children.length > 200) rows.firstElementChild.remove();
}

function show(data) {
  const before = run.state;
  run.seq = data.seq;
  run.state = data.state;
  run.ended = !!data.ended;
  find("#mark").className = "mark-state " + (/^[a-z]+$/.test(data.state) ? data.state : "");
  find("#title").textContent = data.title;
  find("#state").textContent = data.label;
  setLink(find("#open"), data.url);
  find("#stop").hidden = run.ended;
  const section = find("#section");
  const follows = section.scrollHeight - section.scrollTop - section.clientHeight < 40;
  for (const row of data.rows ?? []) showRow(row);
  const dropped = find("#dropped");
  if (data.dropped) dropped.textContent = data.dropped + " earlier entries are not shown";
  dropped.hidden = !data.dropped && dropped.hidden;
  find("#progress-place").replaceChildren(data.ended ? "" : fragment(data.progress ?? ""));
  section.hidden = !find("#rows").childElementCount && !data.progress;
  if (follows) section.scrollTop = section.scrollHeight; // the latest is in sight, unless the person has scrolled
  showQuestions(data.questions ?? []);
  if (before !== data.state) find("#announce").textContent = data.questions?.length && data.state !== "parked" ? "A question is waiting." : data.title + ": " + data.label;
}

function showQuestions(questions) {
  const place = find("#questions");
  for (const old of [...place.children]) {
    if (questions.some((q) => q.id === old.dataset.ask)) continue;
    const hadFocus = old.contains(document.activeElement) || old.dataset.sent;
    old.remove();
    if (hadFocus) place.dataset.focus = "next";
  }
  for (const q of questions) {
    const old = [...place.children].find((s) => s.dataset.ask === q.id);
    if (!q.html) {
      if (!old) run.seq = 0; // this view has missed it
      continue;
    }
    const section = prepared(q);
    if (!old) place.append(section);
    else if (old.dataset.parked !== section.dataset.parked) old.replaceWith(section);
  }
  if (place.dataset.focus && place.firstElementChild) {
    delete place.dataset.focus;
    place.querySelector("h2")?.focus();
  }
}

// prepared returns the element of a question, with times in the person's own time zone.
function prepared(q) {
  const section = fragment(q.html).querySelector("[data-ask]");
  for (const input of section.querySelectorAll("input[data-time]")) {
    const at = new Date(Number(input.dataset.time));
    input.value = new Date(at - at.getTimezoneOffset() * 60000).toISOString().slice(0, 16);
  }
  return section;
}

// valuesOf returns what is filled in, as a form would post it.
function valuesOf(section, button) {
  const values = Object.create(null); // a field may have any name
  const add = (name, value) => name && (values[name] ??= []).push(value);
  for (const el of section.querySelectorAll("input, select, textarea")) {
    if ((el.type === "checkbox" || el.type === "radio") && !el.checked) continue;
    if (el.name !== "beam:tz") add(el.name, el.value);
  }
  if (button.name) add(button.name, button.value);
  add("beam:tz", Intl.DateTimeFormat().resolvedOptions().timeZone);
  return values;
}

async function answer(section, button) {
  if (section.dataset.sent) return;
  section.dataset.sent = "sending";
  run.clicked = true;
  run.busy = 0;
  const action = button.dataset.do;
  const controls = [...section.querySelectorAll("button, input, select, textarea")];
  const values = action === "accept" ? valuesOf(section, button) : undefined;
  for (const el of controls) el.disabled = true;
  section.querySelector(".sending").textContent = "Sending …";
  try {
    const done = await callTool("beam_app_act", { run: run.id, ask: section.dataset.ask, action, values, unseen: !!section.querySelector(".unseen") || undefined });
    if (done.invalid) return showInvalid(section, done.invalid);
    section.querySelector(".sending").textContent = done.settled ? "This question was answered already." : "Sent.";
  } catch (error) {
    delete section.dataset.sent;
    for (const el of controls) el.disabled = false;
    section.querySelector(".sending").textContent = "";
    refused(section, error);
  }
  wake();
}

function showInvalid(section, question) {
  const next = prepared(question);
  section.replaceWith(next);
  next.querySelector(".summary")?.focus();
}

// refused says that an answer did not arrive. The host may allow only reading, or ask the
// person first.
function refused(section, error) {
  let note = section.querySelector(".refused");
  if (!note) {
    note = Object.assign(document.createElement("p"), { className: "refused error" });
    note.setAttribute("role", "alert");
    section.append(note);
  }
  note.textContent = "The answer was not sent: " + error.message + ". Try again, or open the question in Beam.";
}

const setLink = (a, url) => {
  a.hidden = !/^https?:/.test(url ?? "");
  if (!a.hidden) a.href = url;
};

let wakeUp = () => {};
const wake = () => wakeUp();

// pause waits, but not longer than until something is sent or the view is seen again.
async function pause(ms) {
  await Promise.race([sleep(ms), new Promise((resolve) => (wakeUp = resolve))]);
  while (document.hidden) await new Promise((resolve) => document.addEventListener("visibilitychange", resolve, { once: true }));
}

// follow reads the run until it has ended, less often the longer nothing happens.
async function follow() {
  let idle = 0, failures = 0;
  while (!run.ended) {
    await pause(Math.min(idle, failures > 2 ? 60000 : 5000));
    const seq = run.seq;
    try {
      const data = await callTool("beam_app_read", { run: run.id, after: seq, wait: seq ? 5 : 0 }, 60000);
      show(data);
      failures = 0;
      found();
      run.busy = run.seq === seq ? 0 : run.busy + 1;
      idle = !run.busy ? Math.max(250, idle * 2) : run.busy > 5 ? 250 : 0; // a run that does much is read less often, too
      if (run.ended) await finish(data);
    } catch (error) {
      idle = Math.max(1000, idle * 2);
      if (++failures === 2 || isGone(error)) lost(error);
      if (isGone(error)) return;
    }
  }
}

const isGone = (error) => error.message.startsWith("no run has this handle");

async function stop(button) {
  button.disabled = true;
  try {
    await callTool("beam_app_act", { run: run.id, action: "stop" });
  } catch {
    button.disabled = false;
  }
  wake();
}

// found takes back what lost has said.
function found() {
  const note = find("#note");
  if (note.dataset.lost === undefined) return;
  note.hidden = true;
  delete note.dataset.lost;
}

// lost says that the run can't be read.
function lost(error) {
  find("#state").textContent = "can’t be shown here";
  find("#note").hidden = false;
  find("#note").dataset.lost = "";
  find("#note").textContent = "Open in Beam’s inbox to see it: " + error.message + ".";
  if (find("#open").hidden) offerInbox();
}
