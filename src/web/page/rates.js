// Rates of counters: what a counter was a few seconds ago, by the name of whatever counts.
import { isNumber } from "./format.js";

const OVER_MS = 5000;

export class Rates {
  constructor() {
    this.kept = new Map();
  }

  /** How much `value` grew per second over the last five; undefined where that is not known. Counts once per state. */
  of(name, value, now_ms) {
    if (!isNumber(value) || !isNumber(now_ms)) return undefined;
    let points = this.kept.get(name) || [];
    const last = points[points.length - 1];
    // A counter that fell is that of another program.
    if (last && (value < last[1] || now_ms < last[0])) points = [];
    if (!last || points.length === 0 || now_ms > last[0]) points.push([now_ms, value]);
    while (points.length > 2 && points[1][0] <= now_ms - OVER_MS) points.shift();
    this.kept.set(name, points);
    const [first, end] = [points[0], points[points.length - 1]];
    return end[0] > first[0] ? 1000 * (end[1] - first[1]) / (end[0] - first[0]) : undefined;
  }

  /** Forgets what has not been asked for lately. */
  forget(now_ms) {
    for (const [name, points] of this.kept) {
      if (points[points.length - 1][0] < now_ms - 12 * OVER_MS) this.kept.delete(name);
    }
  }
}
