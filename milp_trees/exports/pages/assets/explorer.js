/* The table of runs: sorted, in pages, with columns that can be hidden; a row opens its run. */
"use strict";
(() => {
  const { el, state, text } = M;
  const FIRST = ["name", "variant", "seed", "permutation", "status", "evidence", "objective", "bound", "gap", "seconds", "nodes", "variables", "rows"];
  const SIZES = [50, 200, 500];
  let head, body, pages, chooser, columns;

  state.declare("columns", null, (v) => Array.isArray(v) && v.every((x) => typeof x === "string"), "runs");
  state.declare("sort", "", (v) => v.length < 200, "runs");
  state.declare("page", 0, (v) => Number.isInteger(v) && v >= 0, "runs");
  state.declare("per_page", SIZES[0], (v) => SIZES.includes(v), "runs");

  const several = (name) => new Set(M.rows.map((row) => row[name])).size > 1;
  /** Columns shown at first: the usual ones that hold more than one value, and always name and variant. */
  const usual = () => FIRST.filter((name) => name in M.columns && (["name", "variant", "status", "seconds", "objective"].includes(name) || several(name)));
  const showing = () => (state.get("columns") || usual()).filter((name) => name in M.columns);

  /** Rows in the order asked for; missing values are last in both directions. */
  M.sorted = (rows, order) => {
    const down = order.startsWith("-");
    const name = down ? order.slice(1) : order;
    if (!(name in M.columns)) return rows;
    const words = new Intl.Collator("en", { numeric: true });
    const missing = (x) => x === null || x === undefined || x === "";
    return [...rows].sort((a, b) => {
      const [x, y] = [a[name], b[name]];
      if (missing(x) || missing(y)) return missing(x) - missing(y) || a.index - b.index;
      const sign = typeof x === "number" && typeof y === "number" ? x - y : words.compare(String(x), String(y));
      return (down ? -sign : sign) || a.index - b.index;
    });
  };

  function draw(place) {
    columns = Object.keys(M.columns).filter((name) => M.rows.some((row) => row[name] !== null && row[name] !== undefined));
    chooser = el("details", { class: "chooser" }, el("summary", {}, "Columns"), el("fieldset", {}, el("legend", { class: "unseen" }, "Columns of the table"),
      el("ul", {}, columns.map((name) => el("li", {}, el("label", { title: M.columns[name].text }, el("input", { type: "checkbox", "data-column": name, onchange: pick }), text.title(name))))),
      el("button", { type: "button", onclick: () => state.set({ columns: null }) }, "Usual columns")));
    head = el("tr");
    body = el("tbody");
    pages = el("nav", { class: "pages", "aria-label": "Pages of the table of runs" });
    const download = M.downloads ? el("button", { type: "button", onclick: () => M.downloads.rows() }, "Download these runs (CSV)") : null;
    place.append(chooser, download || "", el("div", { class: "wide", tabindex: "0", role: "region", "aria-label": "Table of runs" }, el("table", { id: "runs-table" }, el("thead", {}, head), body)), pages);
  }
  function pick() {
    const chosen = new Set([...chooser.querySelectorAll("input:checked")].map((box) => box.dataset.column));
    const before = showing();
    state.set({ columns: [...before.filter((name) => chosen.has(name)), ...columns.filter((name) => chosen.has(name) && !before.includes(name))] });
  }
  function heading(name) {
    const order = state.get("sort");
    const now = order === name ? "ascending" : order === `-${name}` ? "descending" : "none";
    const next = now === "ascending" ? `-${name}` : now === "descending" ? "" : name;
    const mark = { ascending: " ▲", descending: " ▼", none: "" }[now];
    return el("th", { scope: "col", "aria-sort": now, "data-column": name, class: M.columns[name].kind }, el("button", { type: "button", title: M.columns[name].text, onclick: () => {
      state.set({ sort: next, page: 0 });
      head.querySelector(`[data-column="${CSS.escape(name)}"] button`).focus();
    } }, text.title(name), el("span", { "aria-hidden": "true" }, mark)));
  }
  /** Classes that colour a row, in words of its own column too, so that no colour is needed. */
  const tone = (row) => (row.evidence === "contradicted" || row.agrees === false || row.status === "error" ? "bad" : row.status === "unsupported" ? "faint" : "");
  function line(row, names) {
    return el("tr", { class: tone(row), "data-run": row.id, onclick: (event) => { if (!event.target.closest("button") && !String(getSelection())) M.openRun(row.id); } },
      names.map((name, k) => {
        const said = text.cell(name, row[name]);
        const inside = k ? said : el("button", { type: "button", class: "link", onclick: () => M.openRun(row.id), "aria-label": `Open run: ${text.cell("method", row.method)} on ${text.cell("name", row.name)}, seed ${row.seed}` }, text.breakable(said));
        return el(k ? "td" : "th", { class: `${M.columns[name].kind}${k && said.length < 25 ? " short" : ""}`, scope: k ? null : "row" }, inside);
      }));
  }
  function show() {
    const names = showing();
    for (const box of chooser.querySelectorAll("input")) box.checked = names.includes(box.dataset.column);
    const rows = M.sorted(M.filtered, state.get("sort"));
    const size = M.printing ? Math.max(SIZES[1], state.get("per_page")) : state.get("per_page");
    const last = Math.max(0, Math.ceil(rows.length / size) - 1);
    const page = M.printing ? 0 : Math.min(state.get("page"), last);
    head.replaceChildren(...names.map(heading));
    body.replaceChildren(...rows.slice(page * size, (page + 1) * size).map((row) => line(row, names)));
    if (!rows.length) body.append(el("tr", {}, el("td", { colspan: names.length }, "No run is left by these filters.")));
    turn(rows.length, page, last, size);
  }
  function turn(total, page, last, size) {
    const button = (label, to, off) => el("button", { type: "button", disabled: off, onclick: () => state.set({ page: to }) }, label);
    const select = el("select", { "aria-label": "Runs per page", onchange: (event) => state.set({ per_page: Number(event.target.value), page: 0 }) },
      SIZES.map((n) => el("option", { value: n, selected: n === size }, `${n} per page`)));
    pages.replaceChildren(button("‹ Previous", page - 1, page <= 0),
      el("span", {}, total ? `${text.number(page * size + 1)}–${text.number(Math.min(total, (page + 1) * size))} of ${text.number(total)}` : "0"),
      button("Next ›", page + 1, page >= last), select);
  }
  M.section({ id: "runs", title: "All runs", order: 50, draw, update: show,
    how: "One line is one run: a method on a problem with a seed. Click a heading to sort, a line to open the run with its model, log and certificate; “–” means that there is no such value." });
})();
