// The end of the run: the model is told, once, whichever view comes first. What it is told
// automatically holds no text of a tool but in the context, marked as such.
const continuation = () => `The run ${run.id} has ended. Call beam_resume with {"run": "${run.id}"} for its result.`;

const claim = (part) => callTool("beam_app_act", { run: run.id, action: "tell", part }, 30000).then((r) => !!r.claimed);
const release = (part) => callTool("beam_app_act", { run: run.id, action: "untell", part }, 30000).catch(() => {});

async function finish(data) {
  if (!run.tells) return;
  const told = data.told ?? {};
  if (!told.context) await tell("context", () => request("ui/update-model-context", { content: [{ type: "text", text: data.result }] }, 10000));
  if (told.message) return;
  const sent = run.clicked && (await tell("message", sendMessage));
  if (!sent) offerToContinue();
}

// tell tells the model a part of the end, unless another view has. It reports whether the
// model knows.
async function tell(part, send) {
  try {
    if (!(await claim(part))) return true;
  } catch {
    return false; // the host allows only reading: nothing would keep others from repeating it
  }
  try {
    await send();
    return true;
  } catch {
    await release(part);
    return false;
  }
}

async function sendMessage() {
  const result = await request("ui/message", { role: "user", content: [{ type: "text", text: continuation() }] }, 10000);
  if (result.isError) throw new Error("the host refused");
}

// offerToContinue shows the message for the person to send.
function offerToContinue() {
  const place = find("#end");
  const button = Object.assign(document.createElement("button"), { type: "button", className: "primary", textContent: "Continue in chat" });
  const hint = Object.assign(document.createElement("p"), { className: "hint", textContent: "Or tell the chat that you are done:" });
  hint.setAttribute("role", "status");
  const text = Object.assign(document.createElement("p"), { className: "copy", textContent: continuation() });
  button.addEventListener("click", async () => {
    button.disabled = true;
    if (!(await claim("message").catch(() => true))) { // a host that allows only reading lets nothing be claimed
      button.remove();
      hint.textContent = "The chat was told already. If it doesn’t go on, copy this:";
      return;
    }
    try {
      await sendMessage();
      place.hidden = true;
    } catch {
      await release("message");
      button.disabled = false;
      hint.textContent = "The chat did not take the message. Copy it:";
    }
  });
  place.replaceChildren(button, hint, text);
  place.hidden = false;
}
