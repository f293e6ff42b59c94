// A line over the last ten minutes: a number, a curve, its greatest value, and what it was where a pointer stands.
import { isNumber, span } from "./format.js";

const SVG = "http://www.w3.org/2000/svg";
export const MINUTES_MS = 600000;
const WIDTH = 600, HEIGHT = 100;

function make(parent, name, classes, space) {
  const element = space ? document.createElementNS(space, name) : document.createElement(name);
  if (classes) element.setAttribute("class", classes);
  parent.append(element);
  return element;
}

/** The next of 1, 2, 5, 10, 20, ... that is not less. */
function roundUp(value) {
  if (!(value > 0)) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  for (const step of [1, 2, 5, 10]) {
    if (value <= step * power * 1.0001) return step * power;
  }
  return 10 * power;
}

export class Chart {
  /** `show(value)` makes the text of a value; `most`: the top of the scale, else the greatest value's. */
  constructor(parent, { id, title, show, most }) {
    this.show = show;
    this.most = most;
    this.title = title;
    this.points = [];
    const card = make(parent, "div", "card chart");
    card.id = "chart-" + id;
    const top = make(card, "div", "top");
    make(top, "h3").textContent = title;
    this.now = make(top, "div", "now");
    this.plot = make(card, "div", "plot");
    this.svg = make(this.plot, "svg", "", SVG);
    this.svg.setAttribute("viewBox", `0 0 ${WIDTH} ${HEIGHT}`);
    this.svg.setAttribute("preserveAspectRatio", "none");
    this.svg.setAttribute("role", "img");
    for (const y of [0.5, HEIGHT / 2]) {
      make(this.svg, "path", "grid", SVG).setAttribute("d", `M0 ${y}H${WIDTH}`);
    }
    this.area = make(this.svg, "path", "area", SVG);
    this.line = make(this.svg, "path", "line", SVG);
    this.at = make(this.svg, "path", "at", SVG);
    this.peak = make(this.plot, "div", "peak");
    const feet = make(card, "div", "feet");
    make(feet, "span").textContent = "10 min ago";
    this.read = make(feet, "span");
    make(feet, "span").textContent = "now";
    this.plot.addEventListener("pointermove", event => this.point(event));
    this.plot.addEventListener("pointerleave", () => this.leave());
  }

  /** `points`: [ms, number or null], the oldest first. `end_ms` is the right edge, `now` the text above. */
  draw(points, end_ms, now) {
    this.points = points;
    this.end = end_ms;
    this.now.textContent = now;
    const values = points.map(point => point[1]).filter(isNumber);
    const greatest = values.length ? Math.max(...values) : 0;
    this.scale = this.most || roundUp(greatest);
    this.peak.textContent = this.show(this.scale);
    this.svg.setAttribute("aria-label",
      values.length ? `${this.title}: now ${now}, between ${this.show(Math.min(...values))} and ${this.show(greatest)}`
        : `${this.title}: no figures yet`);
    let line = "", area = "", from = null, last = 0;
    for (const [ms, value] of points) {
      if (!isNumber(value)) {
        if (from !== null) area += `L${last} ${HEIGHT}L${from} ${HEIGHT}Z`;
        from = null;
        continue;
      }
      const x = this.x(ms), y = HEIGHT - HEIGHT * Math.min(1, value / this.scale);
      const place = x.toFixed(1) + " " + y.toFixed(1);
      line += (from === null ? "M" : "L") + place;
      area += (from === null ? "M" : "L") + place;
      if (from === null) from = x;
      last = x;
    }
    if (from !== null) area += `L${last} ${HEIGHT}L${from} ${HEIGHT}Z`;
    this.line.setAttribute("d", line);
    this.area.setAttribute("d", area);
  }

  x(ms) {
    return WIDTH * (1 - (this.end - ms) / MINUTES_MS);
  }

  point(event) {
    const box = this.plot.getBoundingClientRect();
    const ms = this.end - MINUTES_MS * (1 - (event.clientX - box.left) / box.width);
    let near = null;
    for (const point of this.points) {
      if (isNumber(point[1]) && (near === null || Math.abs(point[0] - ms) < Math.abs(near[0] - ms))) near = point;
    }
    if (near === null) return;
    this.at.setAttribute("d", `M${this.x(near[0]).toFixed(1)} 0V${HEIGHT}`);
    this.read.textContent = `${this.show(near[1])}, ${span(this.end - near[0])} ago`;
  }

  leave() {
    this.at.setAttribute("d", "");
    this.read.textContent = "";
  }
}
