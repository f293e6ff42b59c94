// The tables of a data service: workers, jobs, clients, snapshots.
import { Table, element, pillCell, setText, shareCell } from "./table.js";
import { NONE, amount, byteRate, bytes, count, isNumber, isText, percent, span } from "./format.js";

const KINDS = { ready: "good", draining: "warn", lost: "bad", stopped: "", running: "good", finished: "", done: "", failed: "bad" };

function word(value) {
  return isText(value) ? value : isNumber(value) ? String(value) : NONE;
}

/** The objects of a list. */
export function list(value) {
  return Array.isArray(value) ? value.filter(entry => entry !== null && typeof entry === "object") : [];
}

function has(name) {
  return row => row[name] !== undefined && row[name] !== null;
}

function kindOf(state) {
  return KINDS[String(state).toLowerCase()] || "";
}

function stateColumn() {
  return { title: "State", has: has("state"), fill: (cell, row) => pillCell(cell, word(row.state), kindOf(row.state), row.why) };
}

function slowest(row) {
  const s = row.slowest;
  if (!s || !isText(s.operator)) return NONE;
  return isNumber(s.share) ? `${s.operator}, ${percent(s.share)}` : s.operator;
}

/** {"shm": 2, "grpc": 1} as "2 shm, 1 grpc". */
function streams(row) {
  const ways = Object.entries(row.transfers).filter(([, number]) => isNumber(number));
  return ways.map(([transfer, number]) => `${count(number)} ${transfer}`).join(", ") || NONE;
}

export class Service {
  /** `act(action, argument, question)` asks the person, then the server. */
  constructor(parent, rates, act) {
    this.rates = rates;
    this.act = act;
    this.actions = [];
    const perSecond = (kind, name, show) => ({
      number: true, has: has(name), text: row => show(this.rate(kind, row, name)),
    });
    this.workers = new Table(parent, {
      id: "workers", title: "Workers", none: "No worker has registered yet.", key: row => row.uid ?? row.address,
      columns: [
        { title: "Worker", name: true, text: row => word(row.address) + (joined(row.tags) ? "\n" + joined(row.tags) : "") },
        stateColumn(),
        { title: "Tasks", number: true, has: has("tasks"), text: row => count(row.tasks) },
        { title: "Elements/s", ...perSecond("worker", "elements", amount) },
        { title: "Bytes/s", ...perSecond("worker", "bytes", byteRate) },
        { title: "Elements", number: true, has: has("elements"), text: row => count(row.elements) },
        { title: "Busy", number: true, has: has("busy"), fill: (cell, row) => shareCell(cell, row.busy) },
        { title: "Waits for clients", number: true, has: has("full"), text: row => percent(row.full) },
        { title: "Ready", number: true, has: has("ready_bytes"), text: row => bytes(row.ready_bytes) },
        { title: "Memory", number: true, has: has("memory_budget_bytes"), text: row => bytes(row.memory_used_bytes) + " of " + bytes(row.memory_budget_bytes) },
        { title: "Slowest operator", has: has("slowest"), text: slowest },
        { title: "Heard", number: true, has: has("heard_ms"), text: row => span(row.heard_ms) + " ago" },
        { title: "Action", has: row => this.canDrain(row), fill: (cell, row) => this.button(cell, row) },
      ],
    });
    this.jobs = new Table(parent, {
      id: "jobs", title: "Jobs", none: "No job is running.", key: row => row.id ?? row.name,
      columns: [
        { title: "Job", name: true, text: row => word(row.name) },
        stateColumn(),
        { title: "Dataset", has: has("dataset"), text: row => word(row.dataset) },
        { title: "Sharding", has: has("policy"), text: row => word(row.policy) },
        { title: "Visitation", has: has("visitation"), text: row => word(row.visitation) },
        { title: "Repetition", number: true, has: has("epoch"), text: row => count(row.epoch) },
        { title: "Elements/s", ...perSecond("job", "elements", amount) },
        { title: "Elements", number: true, has: has("elements"), text: row => count(row.elements) },
        { title: "Clients", number: true, has: has("clients"), text: row => count(row.clients) },
        { title: "Splits", number: true, has: has("splits_given"), text: row =>
          isNumber(row.splits_total) ? `${count(row.splits_given)} of ${count(row.splits_total)}` : count(row.splits_given) },
        { title: "Best number of workers", number: true, has: has("optimal_workers"), text: row => count(row.optimal_workers) },
      ],
    });
    this.clients = new Table(parent, {
      id: "clients", title: "Clients", none: "No client reads.", key: row => row.id ?? row.address,
      columns: [
        { title: "Client", name: true, text: row => word(row.address) },
        { title: "Job", has: has("job"), text: row => word(row.job) },
        { title: "Elements/s", ...perSecond("client", "elements", amount), has: row => has("elements")(row) || has("elements_per_s")(row) },
        { title: "Waits", number: true, has: has("stall"), fill: (cell, row) => shareCell(cell, row.stall, 0.5) },
        { title: "Buffered", number: true, has: has("buffered"), text: row => count(row.buffered) },
        { title: "Streams", has: has("transfers"), text: streams },
        { title: "No way to", has: row => joined(row.unreached), text: row => joined(row.unreached) || NONE },
        { title: "Heard", number: true, has: has("heard_ms"), text: row => span(row.heard_ms) + " ago" },
      ],
    });
    this.snapshots = new Table(parent, {
      id: "snapshots", title: "Snapshots", none: "", key: row => row.path,
      columns: [
        { title: "Path", name: true, text: row => word(row.path) },
        stateColumn(),
        { title: "Streams", number: true, has: has("streams"), text: row => count(row.streams) },
        { title: "Elements", number: true, has: has("elements"), text: row => count(row.elements) },
      ],
    });
  }

  rate(kind, row, name) {
    const given = row[name + "_per_s"];
    const measured = this.rates.of(`${kind} ${row.uid ?? row.id ?? row.address} ${name}`, row[name], this.now);
    return isNumber(given) ? given : measured;
  }

  canDrain(row) {
    return this.actions.includes("drain") && row.state === "ready" && isText(row.address);
  }

  button(cell, row) {
    const can = this.canDrain(row);
    if (!can) return setText(cell, "");
    if (cell.firstChild && cell.firstChild.nodeName === "BUTTON") return;
    const button = element("button", "", "Drain");
    button.type = "button";
    button.setAttribute("aria-label", "Drain " + row.address);
    button.addEventListener("click", () => this.act("drain", row.address, {
      title: `Drain ${row.address}?`,
      text: "It hands over what it has begun, gets no new work, and then stops. Other workers go on with its share.",
      yes: "Drain",
    }));
    cell.textContent = "";
    cell.append(button);
  }

  show(state) {
    this.now = state.now_ms;
    this.actions = Array.isArray(state.actions) ? state.actions : [];
    const workers = list(state.workers), lost = workers.filter(row => row.state === "lost").length;
    const rank = row => ["lost", "draining"].indexOf(row.state) + 1 || 3;
    workers.sort((a, b) => rank(a) - rank(b));
    this.workers.show(workers, workers.length ? `${workers.filter(row => row.state === "ready").length} ready` +
      (lost ? `, ${lost} lost` : "") : "");
    const jobs = list(state.jobs);
    this.jobs.show(jobs, jobs.length ? String(jobs.length) : "");
    const clients = list(state.clients);
    this.clients.show(clients, clients.length ? String(clients.length) : "");
    const snapshots = list(state.snapshots);
    this.snapshots.section.hidden = snapshots.length === 0;
    this.snapshots.show(snapshots, String(snapshots.length));
  }

  about(state) {
    const sum = name => list(state.workers).reduce((all, row) => all + (isNumber(row[name]) ? row[name] : 0), 0);
    return [`${count(sum("elements"))} elements`, bytes(sum("bytes")) + " made by these workers"];
  }
}

function joined(tags) {
  return Array.isArray(tags) ? tags.filter(isText).join(", ") : "";
}
