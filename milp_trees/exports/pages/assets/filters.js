/* Filters: choices for columns with few values, and a search line. `M.filtered` follows them.

   The number beside a choice is how many runs would be left by it, all other filters kept. */
"use strict";
(() => {
  const { el, state, text } = M;
  /** Columns that may be chosen from, in this order; those with a single value are not shown. */
  const CHOICES = ["group", "kind", "name", "data", "task", "depth", "variant", "method", "formulation", "solver", "engine", "options", "start_stated", "start", "seed", "permutation", "status", "limit", "evidence", "agrees", "time_limit", "threads", "machine", "environment"];
  const WORDS = ["name", "variant", "method", "data", "task", "group", "kind", "status", "limit", "message", "proved_by", "claimed_by", "evidence", "start", "machine"];
  const OPERATORS = { "<=": (a, b) => a <= b, ">=": (a, b) => a >= b, "<": (a, b) => a < b, ">": (a, b) => a > b, "=": (a, b) => a === b };
  let facets = [];
  let matches = () => true;

  const known = (x) => (x === null || x === undefined ? "" : String(x));
  const shown = (name, x) => (x === "" ? "(none)" : name === "environment" ? x.slice(0, 8) : x);
  state.declare("search", "");
  for (const name of CHOICES) state.declare(`only.${name}`, [], (v) => v.every((x) => typeof x === "string"));

  /** The test of the search line: words, and conditions such as `seconds<5`. */
  function tester(line) {
    const tests = (line.match(/"[^"]*"|\S+/g) || []).map((part) => {
      const found = /^([a-z_]+)(<=|>=|<|>|=)(-?[\d.]+(?:e-?\d+)?)$/i.exec(part);
      if (found && M.columns[found[1]] && Number.isFinite(Number(found[3]))) {
        const [, name, operator, number] = found;
        return (row) => typeof row[name] === "number" && OPERATORS[operator](row[name], Number(number));
      }
      const word = part.replaceAll('"', "").toLowerCase();
      return (row) => row.words.includes(word);
    });
    return (row) => tests.every((test) => test(row));
  }

  /** Rows left, and how many each choice would leave: a row that one filter alone refuses counts there. */
  M.refilter = (changed) => {
    if (![...changed].some((name) => name === "search" || name.startsWith("only."))) return;
    matches = tester(state.get("search"));
    const chosen = facets.map((f) => new Set(state.get(`only.${f.name}`)));
    facets.forEach((f) => f.left.clear());
    M.filtered = M.rows.filter((row) => {
      if (!matches(row)) return false;
      let refusing = -1;
      for (let k = 0; k < facets.length; k += 1) {
        if (!chosen[k].size || chosen[k].has(facets[k].of[row.index])) continue;
        if (refusing >= 0) return false;
        refusing = k;
      }
      const count = (f) => f.left.set(f.of[row.index], (f.left.get(f.of[row.index]) || 0) + 1);
      if (refusing >= 0) count(facets[refusing]);
      else facets.forEach(count);
      return refusing < 0;
    });
  };

  function compare(a, b) {
    return a !== "" && b !== "" && !Number.isNaN(Number(a)) && !Number.isNaN(Number(b)) ? a - b : a.localeCompare(b, "en", { numeric: true });
  }
  M.on("ready", () => {
    for (const row of M.rows) row.words = WORDS.map((name) => known(row[name])).join("\n").toLowerCase();
    facets = CHOICES.map((name) => {
      const of = M.rows.map((row) => known(row[name]));
      return { name, of, values: [...new Set(of)].sort(compare), left: new Map(), counts: new Map(), boxes: new Map() };
    }).filter((f) => !(f.name === "variant" && M.rows.every((row) => row.variant === row.method)))
      .filter((f) => f.values.length > 1 && f.values.length <= Math.max(60, M.rows.length / 3));
    draw(document.getElementById("filters"));
  });

  // -- controls -----------------------------------------------------------------------------------
  function draw(place) {
    const search = el("input", { type: "search", id: "search", autocomplete: "off", placeholder: "words, or seconds<5 gap>0.01", oninput: () => later(() => state.set({ search: search.value, page: 0 })) });
    place.append(el("p", {}, el("label", { for: "search" }, "Search runs"), search), ...facets.map(facet),
      el("p", {}, el("button", { type: "button", id: "reset", onclick: reset }, "Show all runs")));
    M.on("change", () => {
      if (document.activeElement !== search) search.value = state.get("search");
      show();
    });
  }
  let waiting = 0;
  function later(f) {
    clearTimeout(waiting);
    waiting = setTimeout(f, 120);
  }
  function facet(f) {
    const list = el("ul", {}, f.values.map((value) => {
      const box = el("input", { type: "checkbox", onchange: () => choose(f) });
      const count = el("span", { class: "count" });
      f.boxes.set(value, box);
      f.counts.set(value, count);
      return el("li", {}, el("label", {}, box, el("span", { class: "value" }, shown(f.name, value)), count));
    }));
    f.said = el("span", { class: "count" });
    const find = f.values.length > 12 ? el("input", { type: "search", "aria-label": `Find in ${text.title(f.name)}`, placeholder: "find", oninput: (event) => narrow(f, event.target.value) }) : null;
    return el("details", { "data-filter": f.name, open: ["variant", "name", "status"].includes(f.name) && f.values.length <= 12 && innerWidth > 900 },
      el("summary", { title: (M.columns[f.name] || {}).text }, text.title(f.name), " ", f.said), el("fieldset", {}, el("legend", { class: "unseen" }, text.title(f.name)), find, list));
  }
  function narrow(f, word) {
    for (const [value, box] of f.boxes) box.closest("li").hidden = !shown(f.name, value).toLowerCase().includes(word.toLowerCase());
  }
  const choose = (f) => state.set({ [`only.${f.name}`]: f.values.filter((value) => f.boxes.get(value).checked), page: 0 });
  const reset = () => state.set({ search: "", page: 0, ...Object.fromEntries(CHOICES.map((name) => [`only.${name}`, []])) });

  function show() {
    for (const f of facets) {
      const chosen = new Set(state.get(`only.${f.name}`));
      f.said.textContent = chosen.size ? `${chosen.size} of ${f.values.length}` : String(f.values.length);
      for (const value of f.values) {
        const left = f.left.get(value) || 0;
        f.boxes.get(value).checked = chosen.has(value);
        f.counts.get(value).textContent = text.number(left);
        f.boxes.get(value).closest("li").classList.toggle("empty", !left);
      }
    }
    chips();
  }
  /** What is filtered, in words, above everything; also printed. */
  function chips() {
    const place = document.getElementById("left");
    const active = facets.filter((f) => state.get(`only.${f.name}`).length);
    const said = M.filtered.length === M.rows.length ? `All ${text.count(M.rows.length, "run")}` : `${text.number(M.filtered.length)} of ${text.count(M.rows.length, "run")}`;
    const drop = (label, changes) => el("button", { type: "button", class: "chip", title: "Remove this filter", onclick: () => state.set({ ...changes, page: 0 }) }, label, el("span", { "aria-hidden": "true" }, " ×"));
    place.replaceChildren(el("strong", { id: "count" }, said),
      ...active.map((f) => {
        const chosen = state.get(`only.${f.name}`).map((v) => shown(f.name, v));
        return drop(`${text.title(f.name)}: ${chosen.slice(0, 3).join(", ")}${chosen.length > 3 ? ` and ${chosen.length - 3} more` : ""}`, { [`only.${f.name}`]: [] });
      }),
      state.get("search") ? drop(`search: ${state.get("search")}`, { search: "" }) : "",
      new Set(M.filtered.map((row) => row.environment)).size > 1 ? el("span", { class: "warn" }, "Runs of different machines: times are not averaged over them") : "");
  }
})();
