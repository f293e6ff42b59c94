// A pipeline: one card per iterator with its operators, and who bounds it.
import { Table, element, setText, shareCell } from "./table.js";
import { NONE, amount, bytes, count, isNumber, isText, percent, span } from "./format.js";
import { list } from "./service.js";

/** What an operator mostly did lately: shares of its time. */
function doing(row) {
  const { busy, waiting, full } = row.shares;
  if (![busy, waiting, full].some(share => share > 0.02)) return "idle";
  if (busy >= waiting && busy >= full) return "computes";
  return waiting >= full ? "waits for its input" : "waits for its consumer";
}

function buffer(row) {
  if (!(row.buffer_limit > 0)) return row.buffered > 0 ? count(row.buffered) : NONE;
  return `${count(row.buffered)} of ${count(row.buffer_limit)}`;
}

export class Pipeline {
  constructor(parent, rates) {
    this.parent = parent;
    this.rates = rates;
    this.cards = new Map();
    this.none = element("p", "card block empty", "No iterator is running; the page goes on with the next one.");
    parent.append(this.none);
  }

  make(id) {
    const table = new Table(this.parent, {
      id: "pipeline-" + id, title: "", none: "It has no operators yet.", key: (row, index) => index + row.name,
      columns: [
        { title: "Operator", name: true, text: row => "\u2003".repeat(Math.min(12, row.indent)) + row.name },
        { title: "Elements/s", number: true, text: row => amount(row.rate) },
        { title: "Elements", number: true, text: row => count(row.elements) },
        { title: "Computes", number: true, fill: (cell, row) => shareCell(cell, row.shares.busy, 0.9) },
        { title: "Waits for input", number: true, text: row => percent(row.shares.waiting) },
        { title: "Waits for room", number: true, text: row => percent(row.shares.full) },
        { title: "Now", text: doing },
        { title: "Threads", number: true, text: row => count(row.threads) },
        { title: "Buffer", number: true, text: buffer },
        { title: "Holds", number: true, text: row => bytes(row.bytes) },
        { title: "Errors", number: true, has: row => row.errors > 0, text: row => count(row.errors) },
      ],
    });
    const more = element("details"), text = element("pre");
    more.append(element("summary", "", "What autotune decided"), text);
    table.section.append(more);
    return { table, more, text };
  }

  show(state) {
    const pipelines = list(state.pipelines), now = state.now_ms, seen = new Set();
    this.none.hidden = pipelines.length > 0;
    for (const pipeline of pipelines) {
      const id = String(pipeline.id);
      seen.add(id);
      const card = this.cards.get(id) || this.make(id);
      this.cards.set(id, card);
      setText(card.table.heading, isText(pipeline.name) ? pipeline.name : "pipeline " + id);
      card.table.show(this.operators(pipeline, id, now), this.sum(pipeline, id, now));
      card.more.hidden = !isText(pipeline.autotune);
      setText(card.text, isText(pipeline.autotune) ? pipeline.autotune : "");
    }
    for (const [id, card] of this.cards) {
      if (!seen.has(id)) {
        card.table.section.remove();
        this.cards.delete(id);
      }
    }
  }

  operators(pipeline, id, now) {
    return list(pipeline.operators).map((row, index) => {
      const share = name => {
        const grown = this.rates.of(`${id} ${index} ${name}`, row[name], now);
        const threads = name === "busy_ms" && row.threads > 1 ? row.threads : 1;
        return isNumber(grown) ? Math.min(1, grown / 1000 / threads) : undefined;
      };
      return {
        ...row, name: isText(row.name) ? row.name : NONE, indent: isNumber(row.depth) ? Math.max(0, row.depth) : 0,
        rate: this.rates.of(`${id} ${index} elements`, row.elements, now),
        shares: { busy: share("busy_ms"), waiting: share("waiting_ms"), full: share("full_ms") },
      };
    });
  }

  sum(pipeline, id, now) {
    const parts = [`${count(pipeline.elements)} elements`];
    const speed = this.rates.of(`${id} elements`, pipeline.elements, now);
    const stall = this.rates.of(`${id} waiting`, pipeline.waiting_ms, now);
    if (isNumber(speed)) parts.push(amount(speed) + " per second");
    if (isNumber(stall)) parts.push(`its consumer waits ${percent(stall / 1000)} of the time`);
    if (isNumber(pipeline.memory)) {
      parts.push(bytes(pipeline.memory) + (pipeline.memory_limit > 0 ? " of " + bytes(pipeline.memory_limit) : "") + " held");
    }
    if (isNumber(pipeline.started_ms)) parts.push("for " + span(now - pipeline.started_ms));
    const slowest = pipeline.slowest;
    if (slowest && isText(slowest.operator)) parts.push(`slowest: ${slowest.operator}, computing ${percent(slowest.share)}`);
    return parts.join(" · ");
  }

  about(state) {
    return isNumber(state.pid) ? ["process " + state.pid] : [];
  }
}
