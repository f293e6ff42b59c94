// Tables whose rows stay the same elements while their figures change, so that focus and selection stay, too.
import { NONE, isNumber, isText, percent } from "./format.js";

/** An element with text in it; texts come from outside and are never read as HTML. */
export function element(name, classes, text) {
  const made = document.createElement(name);
  if (classes) made.className = classes;
  if (text !== undefined) made.textContent = text;
  return made;
}

export function setText(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

/** A share as a bar beside its number. */
export function shareCell(cell, share, high) {
  if (!isNumber(share)) return setText(cell, NONE);
  if (!cell.querySelector(".share")) {
    cell.textContent = "";
    const bar = element("span", "share");
    bar.append(element("span"), element("i"));
    bar.lastChild.append(element("b"));
    bar.lastChild.setAttribute("aria-hidden", "true");
    cell.append(bar);
  }
  const bar = cell.firstChild;
  setText(bar.firstChild, percent(share));
  bar.lastChild.firstChild.style.width = percent(share).replace(" ", "");
  bar.classList.toggle("high", high !== undefined && share >= high);
}

/** A word in a coloured field, and under it why. */
export function pillCell(cell, word, kind, why) {
  if (!cell.querySelector(".pill")) {
    cell.textContent = "";
    const box = element("div");
    box.append(element("span", "pill"), element("span", "why"));
    cell.append(box);
  }
  const [pill, reason] = cell.firstChild.children;
  setText(pill, word);
  pill.className = "pill " + kind;
  setText(reason, isText(why) ? why : "");
  reason.hidden = !isText(why);
}

export class Table {
  /**
   * `columns`: {title, text(row)} or {title, fill(cell, row)}, with `number` for figures, `name` for the row's name, and
   * `has(row)`: a column that no row has is left out. `key(row)` says which row is which.
   */
  constructor(parent, { id, title, columns, key, none }) {
    this.columns = columns;
    this.key = key;
    this.rows = new Map();
    this.section = element("section", "card block");
    this.section.id = id;
    this.top = element("div", "top");
    this.heading = element("h2", "", title);
    this.heading.id = "title-" + id;
    this.section.setAttribute("aria-labelledby", this.heading.id);
    this.sum = element("span", "sum");
    this.top.append(this.heading, this.sum);
    this.empty = element("p", "empty", none);
    this.table = element("table");
    // Told to readers of the screen anew: on a phone the rows are no table to the browser.
    this.table.setAttribute("role", "table");
    this.table.setAttribute("aria-labelledby", this.heading.id);
    const head = element("thead"), line = element("tr");
    head.setAttribute("role", "rowgroup");
    line.setAttribute("role", "row");
    for (const column of columns) {
      const cell = element("th", column.number ? "number" : "", column.title);
      cell.scope = "col";
      cell.setAttribute("role", "columnheader");
      line.append(cell);
    }
    head.append(line);
    this.heads = [...line.children];
    this.body = element("tbody");
    this.body.setAttribute("role", "rowgroup");
    this.table.append(head, this.body);
    this.section.append(this.top, this.empty, this.table);
    parent.append(this.section);
  }

  make() {
    const row = element("tr");
    row.setAttribute("role", "row");
    for (const column of this.columns) {
      const cell = element("td", (column.number ? "number" : "") + (column.name ? " name" : ""));
      cell.setAttribute("role", "cell");
      cell.dataset.label = column.title;
      row.append(cell);
    }
    return row;
  }

  /** Shows `list`; `sum` stands beside the title. */
  show(list, sum) {
    setText(this.sum, sum || "");
    this.empty.hidden = list.length > 0;
    this.table.hidden = list.length === 0;
    const seen = new Set();
    let before = null;
    for (const [index, entry] of list.entries()) {
      let key = String(this.key(entry, index));
      // Two rows of one name are both shown.
      while (seen.has(key)) key += "'";
      seen.add(key);
      const row = this.rows.get(key) || this.make();
      this.rows.set(key, row);
      const next = before === null ? this.body.firstChild : before.nextSibling;
      if (next !== row) this.body.insertBefore(row, next);
      before = row;
    }
    for (const [key, row] of this.rows) {
      if (!seen.has(key)) {
        row.remove();
        this.rows.delete(key);
      }
    }
    this.fill(list);
  }

  fill(list) {
    const lines = [...this.body.children];
    for (const [at, column] of this.columns.entries()) {
      const hidden = column.has !== undefined && !list.some(column.has);
      this.heads[at].hidden = hidden;
      for (const [index, entry] of list.entries()) {
        const cell = lines[index].children[at];
        cell.hidden = hidden;
        cell.classList.toggle("missing", column.has !== undefined && !column.has(entry));
        if (column.fill) column.fill(cell, entry);
        else setText(cell, column.text(entry));
      }
    }
  }
}
