// The small console: ask, see the answer, look the schema up. No framework, nothing kept on disk.

import { operations } from "./operations.js";
import { outline, readTypes } from "./outline.js";
import { samples } from "./samples.js";
import { post, subscribe } from "./transport.js";

const HISTORY_MAX = 50;
const EVENTS_SHOWN_MAX = 200;

const at = (id) => document.getElementById(id);
const past = [];
let types = [];
let running = null;

function headers() {
  const token = at("token").value.trim();
  return token === "" ? {} : { Authorization: `Bearer ${token}` };
}

function question() {
  const text = at("variables").value.trim();
  const named = at("operation").value;
  return {
    query: at("query").value,
    variables: text === "" ? undefined : JSON.parse(text),
    operationName: named === "" ? undefined : named,
  };
}

function show(answer) {
  at("answer").textContent = JSON.stringify(answer, null, 2);
}

function say(text) {
  at("status").textContent = text;
}

async function run() {
  stop();
  const mine = (running = { stopped: false, abort: new AbortController() });
  at("stop").hidden = false;
  say("…");
  try {
    const asked = question();
    remember(asked);
    await (isSubscription(asked) ? listen(asked, mine) : ask(asked, mine));
  } catch (error) {
    if (!mine.stopped) say(error instanceof SyntaxError ? `Variables: ${error.message}` : error.message);
  } finally {
    if (running === mine) at("stop").hidden = true;
  }
}

async function ask(asked, mine) {
  const { answer, status, bytes, milliseconds } = await post(asked, headers(), mine.abort.signal);
  show(answer);
  say(`${status}, ${bytes.toLocaleString("en")} bytes, ${milliseconds.toFixed(0)} ms`);
}

async function listen(asked, mine) {
  const events = [];
  const stream = subscribe(asked, headers());
  mine.abort.signal.addEventListener("abort", () => stream.return());
  let count = 0;
  say("listening");
  for await (const each of stream) {
    if (mine.stopped) return;
    events.unshift(each);
    events.length = Math.min(events.length, EVENTS_SHOWN_MAX);
    show(events);
    say(`${(++count).toLocaleString("en")} events, newest first`);
  }
}

function stop() {
  if (running === null) return;
  running.stopped = true;
  running.abort.abort();
  at("stop").hidden = true;
  say("stopped");
}

function isSubscription(asked) {
  const found = operations(asked.query);
  const chosen = found.find((each) => each.name === asked.operationName) ?? found[0];
  return chosen?.kind === "subscription";
}

/** With several operations in the text, the reader says which. */
function offerOperations() {
  const names = operations(at("query").value).flatMap(({ name }) => name ?? []);
  const chosen = at("operation").value;
  at("operation").replaceChildren(...names.map((name) => new Option(name)));
  if (names.includes(chosen)) at("operation").value = chosen;
  at("operation").hidden = names.length < 2;
}

function fill({ query, variables }) {
  at("query").value = query;
  at("variables").value = variables === undefined ? "" : JSON.stringify(variables, null, 2);
  offerOperations();
}

function remember(asked) {
  past.unshift(asked);
  past.length = Math.min(past.length, HISTORY_MAX);
  at("history").replaceChildren(...past.map(historyLine));
}

function historyLine(asked) {
  const line = document.createElement("li");
  line.append(button(asked.query.replace(/#.*/g, "").replace(/\s+/g, " ").trim(), () => fill(asked)));
  return line;
}

function button(text, act) {
  const made = document.createElement("button");
  made.type = "button";
  made.textContent = text;
  made.addEventListener("click", act);
  return made;
}

async function offerSamples() {
  const found = await samples();
  at("samples").replaceChildren(...found.map((each) => button(each.name, () => fill(each))));
  if (at("query").value === "") fill(found[0]);
}

async function openSchema() {
  if (!at("schema").open || types.length > 0) return;
  try {
    types = await readTypes(async (asked) => (await post(asked, headers())).answer);
    showOutline();
  } catch (error) {
    at("outline").textContent = error.message;
  }
}

function showOutline() {
  at("outline").replaceChildren(...outline(types, at("find").value));
}

function switchTheme() {
  const root = document.documentElement;
  const dark = matchMedia("(prefers-color-scheme: dark)").matches;
  const now = root.dataset.theme ?? (dark ? "dark" : "light");
  root.dataset.theme = now === "dark" ? "light" : "dark";
}

at("run").addEventListener("click", run);
at("stop").addEventListener("click", stop);
at("theme").addEventListener("click", switchTheme);
at("schema").addEventListener("toggle", openSchema);
at("find").addEventListener("input", showOutline);
at("query").addEventListener("input", offerOperations);
document.addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
  event.preventDefault();
  run();
});
await offerSamples();
