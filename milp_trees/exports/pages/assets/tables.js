/* Small tables of aggregates: sorted by a heading, saved as LaTeX, CSV or Markdown. */
"use strict";
M.tables = (() => {
  const { el, state } = M;

  /** Declare how the table of a section is sorted: a column's key, with "-" before it if the largest is first. */
  const declare = (id, first) => state.declare(`sort.${id}`, first,
    (v) => v.length < 100, id);

  function sorted(lines, order) {
    const descending = order.startsWith("-");
    const key = order.replace(/^-/, "");
    const value = (line) => (Object.hasOwn(line, key) ? line[key] : null);
    return [...lines].sort((a, b) => {
      const [x, y] = [value(a), value(b)];
      if (x === y) return 0;
      if (x === null || x === undefined) return 1;
      if (y === null || y === undefined) return -1;
      const sign = typeof x === "string" ? x.localeCompare(y, "en", { numeric: true }) : x - y;
      return descending ? -sign : sign;
    });
  }

  /** So many lines are shown; a saved table holds all. */
  const MOST = 200;

  /** A table with its caption and buttons. A column is {key, title, text (tooltip), show (value →
      text; without it the column holds text)}; `open(line)` makes the first cell a button. */
  function table({ id, caption, columns, lines, open }) {
    const order = state.get(`sort.${id}`);
    const rows = sorted(lines, order);
    const text = (line, { key, show }) => (show ? show(line[key]) : String(line[key] ?? "–"));
    const texts = () => rows.map((line) => columns.map((column) => text(line, column)));
    const heads = columns.map(({ title }) => title);
    const aligned = columns.map(({ show }) => Boolean(show));
    const D = M.downloads;
    const button = (label, made, ending, type) => el("button", { type: "button", class: "save",
      title: `Save this table as ${label}`,
      onclick: () => D.save(made(), D.fileName(id, ending), type) }, label);
    const first = (line, column) => (open ? el("button", { type: "button", class: "link",
      onclick: () => open(line) }, text(line, column)) : text(line, column));
    return el("div", { class: "aggregate", "data-table": id },
      el("p", { class: "switches" },
        button("LaTeX", () => D.latex(caption, heads, texts(), aligned), "tex", "text/x-tex"),
        button("CSV", () => D.csv(columns.map(({ key }) => key),
          rows.map((line) => columns.map(({ key }) => line[key]))), "csv", "text/csv"),
        button("Markdown", () => D.markdown(heads, texts(), aligned), "md", "text/markdown")),
      el("div", { class: "scroll" }, el("table", {}, el("caption", {}, caption,
        rows.length > MOST ? ` (the first ${MOST} of ${rows.length} lines; saved tables hold all)` : null),
        el("thead", {}, el("tr", {}, columns.map((column) => heading(id, column, order)))),
        el("tbody", {}, rows.slice(0, MOST).map((line) => el("tr", { class: line.alarm ? "alarm" : null },
          columns.map((column, i) => (i
            ? el("td", { class: column.show ? "number" : null }, text(line, column))
            : el("th", { scope: "row" }, first(line, column))))))))));
  }

  function heading(id, { key, title, text, show }, order) {
    const now = order.replace(/^-/, "") === key;
    const next = now && !order.startsWith("-") ? `-${key}` : key;
    return el("th", { scope: "col", title: text, class: show ? "number" : null,
      "aria-sort": now ? (order.startsWith("-") ? "descending" : "ascending") : null },
    el("button", { type: "button", class: "link",
      onclick: () => state.set({ [`sort.${id}`]: next }) }, title));
  }

  return { declare, table };
})();
