// The page: listens to the server's events, keeps ten minutes of figures, and shows what the state says.
// The form of a state is in src/web/state.md. Nothing that comes from outside is read as HTML.
import { Chart, MINUTES_MS } from "./chart.js";
import { Pipeline } from "./pipeline.js";
import { Rates } from "./rates.js";
import { Service } from "./service.js";
import { NONE, amount, byteRate, clock, isNumber, isText, percent, span } from "./format.js";
import { setText } from "./table.js";

const AGAIN_MS = 1000;          // between two tries where the browser gives up by itself
const RECENT_MS = 5000;         // what the numbers above the curves are of
const GAP_MS = 15000;           // longer apart, two points are no line
const NOTICE_MS = 60000;

const at = id => document.getElementById(id);
const rates = new Rates();
const views = { service: Service, pipeline: Pipeline };
let view = null, kind = "", incarnation, source = null, points = [], lostAt = 0, noticeEnds = 0;

const charts = [
  { of: flow("elements"), chart: new Chart(at("charts"), { id: "elements", title: "Elements per second", show: amount }) },
  { of: gauge("buffered"), chart: new Chart(at("charts"), { id: "buffered", title: "Buffered elements", show: amount }) },
  { of: stall, chart: new Chart(at("charts"), { id: "stall", title: "Consumers wait", show: percent, most: 1 }) },
];

// ---- ten minutes of figures: [ms, {name: number}] ----

/** The rate of a counter between two points; null where it is not known. */
function grown(before, after, name) {
  if (!before || !isNumber(before[1][name]) || !isNumber(after[1][name])) return null;
  const ms = after[0] - before[0], more = after[1][name] - before[1][name];
  return ms > 0 && ms <= GAP_MS && more >= 0 ? 1000 * more / ms : null;
}

function flow(name) {
  return (before, after) => grown(before, after, name);
}

function gauge(name) {
  return (before, after) => {
    const value = after[1][name];
    return isNumber(value) && (!before || after[0] - before[0] <= GAP_MS) ? value : null;
  };
}

function stall(before, after) {
  if (isNumber(after[1].stall)) return gauge("stall")(before, after);
  const waited = grown(before, after, "waiting_ms"), consumers = after[1].consumers ?? 1;
  return waited === null || consumers <= 0 ? null : Math.min(1, waited / 1000 / consumers);
}

function curve(of) {
  return points.map((point, index) => [point[0], of(points[index - 1], point)]);
}

/** Of the last seconds, as one number would flicker. */
function mean(line, end) {
  const recent = line.filter(([ms, value]) => ms > end - RECENT_MS && isNumber(value)).map(point => point[1]);
  return recent.length ? recent.reduce((a, b) => a + b, 0) / recent.length : undefined;
}

/** Adds points that are not there yet, in order, and forgets old ones. */
function keep(more) {
  const known = new Set(points.map(point => point[0]));
  points = points.concat(more.filter(point => isNumber(point[0]) && !known.has(point[0])));
  points.sort((a, b) => a[0] - b[0]);
  const end = points.length ? points[points.length - 1][0] : 0;
  points = points.filter(point => point[0] >= end - MINUTES_MS);
}

function takeHistory(history) {
  keep(history.points.map(([ms, ...values]) => [ms, Object.fromEntries(history.names.map((name, i) => [name, values[i]]))]));
}

// ---- showing ----

function drawCharts(end) {
  for (const { of, chart } of charts) {
    const line = curve(of), now = mean(line, end);
    chart.draw(line, end, isNumber(now) ? chart.show(now) : NONE);
  }
}

function say(text, classes) {
  const notice = at("notice");
  setText(notice, text);
  notice.className = classes || "";
  notice.hidden = text === "";
  noticeEnds = Date.now() + NOTICE_MS;
}

function link(word, classes) {
  const pill = at("link");
  setText(pill, word);
  pill.className = "pill " + classes;
}

function choose(name) {
  if (name === kind) return;
  kind = name;
  at("body").textContent = "";
  view = views[name] ? new views[name](at("body"), rates, act) : null;
  if (!view) say(`This page does not know what a "${name}" is; it is older than the program.`, "bad");
}

function about(state) {
  const flowing = mean(curve(flow("bytes")), state.now_ms);
  const parts = [state.kind === "service" ? "data service" : state.kind, ...(view ? view.about(state) : [])];
  if (isNumber(flowing)) parts.push(byteRate(flowing));
  if (isNumber(state.uptime_ms)) parts.push("up for " + span(state.uptime_ms));
  if (isText(state.version)) parts.push("leat " + state.version);
  return parts.join(" · ");
}

function takeState(state) {
  if (incarnation !== undefined && state.incarnation !== undefined && state.incarnation !== incarnation)
    say(`The program started again at ${clock(state.now_ms - (state.uptime_ms || 0))}; counters begin anew.`);
  else if (lostAt) say(`The connection is back; it was gone for ${span(Date.now() - lostAt)}.`, "good");
  else if (Date.now() > noticeEnds) say("");
  incarnation = state.incarnation ?? incarnation;
  lostAt = 0;
  link("live", "good");
  choose(String(state.kind));
  const now = isNumber(state.now_ms) ? state.now_ms : Date.now();
  if (state.totals && typeof state.totals === "object") keep([[now, state.totals]]);
  const name = isText(state.name) ? state.name : "leat";
  setText(at("name"), name);
  document.title = name + " · leat";
  if (view) view.show({ ...state, now_ms: now });
  drawCharts(now);
  setText(at("about"), about({ ...state, now_ms: now }));
  rates.forget(now);
}

// ---- asking ----

function ask({ title, text, yes }) {
  const dialog = at("ask");
  setText(at("ask-title"), title);
  setText(at("ask-text"), text);
  setText(at("ask-yes"), yes);
  dialog.showModal();
  // Not by the event `close`, which comes later and may be that of the question before.
  return new Promise(resolve => {
    dialog.querySelector("form").onsubmit = event => resolve(event.submitter !== null && event.submitter.value === "yes");
    dialog.oncancel = () => resolve(false);
  });
}

async function act(action, argument, question) {
  if (!await ask(question)) return;
  try {
    const answer = await fetch("act", {
      method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ action, argument }),
    });
    const text = (await answer.text()).trim();
    if (answer.ok) say(`Asked for: ${action} ${argument}.`, "good");
    else say(`${action} ${argument} was refused: ${text}`, "bad");
  } catch {
    say(`${action} ${argument} did not reach the server.`, "bad");
  }
}

// ---- listening ----

function lost() {
  if (!lostAt) lostAt = Date.now();
  link("no connection", "bad");
  say(`The server has not answered since ${clock(lostAt)}; this page tries again every second.`, "bad");
}

/** Why the stream cannot be had: without the token the form is shown. */
async function listenAgain() {
  try {
    const answer = await fetch("state");
    if (answer.status === 401) return location.reload();
  } catch {
    // The server is not there yet.
  }
  setTimeout(listen, AGAIN_MS);
}

function listen() {
  source = new EventSource("events");
  source.addEventListener("history", event => takeHistory(JSON.parse(event.data)));
  source.addEventListener("state", event => takeState(JSON.parse(event.data)));
  source.addEventListener("error", () => {
    lost();
    if (source.readyState !== EventSource.CLOSED) return;
    source.close();
    listenAgain();
  });
}

setInterval(() => { if (lostAt) lost(); }, AGAIN_MS);
listen();
