/* Problems: what is known about each, who proved it, and a window per problem with its runs. */
"use strict";
(() => {
  const { el, state, text } = M;
  let body;
  const known = new Map();

  state.declare("problem_sort", "name", (v) => v.length < 100, "problems");

  /** What all runs of a problem together say, references included; contradicted runs prove nothing. */
  function knowledge(rows, references) {
    const sense = (rows[0] || references[0] || {}).sense === "max" ? -1 : 1;
    const sound = [...rows, ...references].filter((r) => r.status !== "error" && r.evidence !== "contradicted");
    const better = (name, sign) => sound.reduce((best, r) => (r[name] === null || r[name] === undefined ? best : best === null || sign * r[name] < sign * best ? r[name] : best), null);
    const best = better("objective", sense);
    const bound = better("bound", -sense);
    const infeasible = sound.some((r) => r.status === "infeasible");
    const { excludes, sameValue } = M.measures;
    const leader = sound.find((r) => r.objective === best);
    const proves = (r) => r.status === "optimal" && best !== null && r.objective !== null && sameValue(r, leader);
    const provers = [...new Set(sound.filter((r) => proves(r) || (infeasible && r.status === "infeasible")).map((r) => r.method))];
    const programs = [...new Set(sound.filter((r) => provers.includes(r.method) && r.proved_by).map((r) => r.proved_by))];
    // A value better than a bound, or a model where none is feasible: one of the two runs is wrong.
    const crossed = best !== null && (infeasible || (bound !== null && excludes(sense * bound, sense * best)));
    const wrong = crossed || [...rows, ...references].some((r) => r.evidence === "contradicted");
    const evidence = wrong ? "contradicted" : !provers.length ? "open" : sound.some((r) => r.evidence === "proved by file") ? "proved by file" : sound.some((r) => r.evidence === "derived again") ? "derived again" : "claimed";
    const fastest = sound.filter((r) => provers.includes(r.method) && r.status !== "feasible").sort((a, b) => a.seconds - b.seconds)[0];
    return { best, bound, infeasible, provers, programs, evidence, fastest };
  }
  M.on("ready", () => {
    const byProblem = new Map();
    for (const row of M.rows) byProblem.set(row.problem, [...(byProblem.get(row.problem) || []), row]);
    for (const [key, problem] of Object.entries(M.problems)) {
      const rows = byProblem.get(key) || [];
      known.set(key, { key, problem, rows, ...knowledge(rows, problem.references || []) });
    }
    M.known = known;
  });

  const state_of = (one) => (one.infeasible ? "infeasible" : one.evidence === "open" ? "open" : "solved");
  const value_of = (one) => (one.infeasible ? "no model is feasible" : one.best === null ? "–" : text.number(one.best));
  const COLUMNS = {
    name: ["problem", (one) => one.problem.name],
    rows: ["rows", (one) => one.problem.rows],
    tests: ["tests", (one) => one.problem.tests],
    state: ["status", state_of],
    best: ["best known", (one) => one.best],
    bound: ["best bound", (one) => one.bound],
    evidence: ["evidence", (one) => one.evidence],
    provers: ["proved by", (one) => one.provers.length],
    fastest: ["fastest proof", (one) => (one.fastest ? one.fastest.seconds : null)],
    left: ["runs left", (one) => one.left],
  };
  function cell(name, one) {
    if (name === "best") return value_of(one);
    if (name === "fastest") return one.fastest ? `${text.seconds(one.fastest.seconds)} ${one.fastest.method}` : "–";
    if (name === "provers") return one.provers.length ? `${one.provers.slice(0, 3).join(", ")}${one.provers.length > 3 ? ` and ${one.provers.length - 3} more` : ""}` : "–";
    return text.number(COLUMNS[name][1](one));
  }
  function draw(place) {
    body = el("div", { class: "wide", tabindex: "0", role: "region", "aria-label": "Table of problems" });
    place.append(body);
  }
  function show() {
    const left = new Map();
    for (const row of M.filtered) left.set(row.problem, (left.get(row.problem) || 0) + 1);
    const order = state.get("problem_sort");
    const [name, down] = order.startsWith("-") ? [order.slice(1), -1] : [order, 1];
    const by = (COLUMNS[name] || COLUMNS.name)[1];
    const words = new Intl.Collator("en", { numeric: true });
    const ones = [...known.values()].filter((one) => left.has(one.key)).map((one) => ({ ...one, left: left.get(one.key) }));
    ones.sort((a, b) => {
      const [x, y] = [by(a), by(b)];
      if (x === null || y === null) return (x === null) - (y === null);
      return down * (typeof x === "number" && typeof y === "number" ? x - y : words.compare(x, y));
    });
    const heading = (key) => el("th", { scope: "col", "data-column": key, "aria-sort": key !== name ? "none" : down > 0 ? "ascending" : "descending" },
      el("button", { type: "button", onclick: () => {
        state.set({ problem_sort: order === key ? `-${key}` : key });
        body.querySelector(`[data-column="${key}"] button`).focus();
      } }, COLUMNS[key][0], el("span", { "aria-hidden": "true" }, key !== name ? "" : down > 0 ? " ▲" : " ▼")));
    const line = (one) => el("tr", { class: one.evidence === "contradicted" ? "bad" : "", onclick: (event) => { if (!event.target.closest("button")) M.openProblem(one.key); } },
      el("th", { scope: "row" }, el("button", { type: "button", class: "link", onclick: () => M.openProblem(one.key) }, text.breakable(one.problem.name))),
      Object.keys(COLUMNS).slice(1).map((key) => el("td", { class: cell(key, one).length < 25 ? "short" : null }, cell(key, one))));
    body.replaceChildren(el("table", { id: "problems-table" }, el("thead", {}, el("tr", {}, Object.keys(COLUMNS).map(heading))), el("tbody", {}, ones.map(line))));
  }

  // -- the window of a problem ----------------------------------------------------------------------
  function problemWindow(key) {
    const one = known.get(key);
    if (!one) return null;
    const { problem } = one;
    const left = new Set(M.filtered.filter((row) => row.problem === key));
    const champion = one.rows.filter((r) => r.objective === one.best && r.evidence !== "contradicted").sort((a, b) => (b.status === "optimal") - (a.status === "optimal") || a.seconds - b.seconds)[0];
    const only = () => state.set({ open: "", search: "", page: 0, "only.name": [], [M.rows.some((r) => r.problem !== key && r.name === problem.name) ? "search" : "only.name"]: M.rows.some((r) => r.problem !== key && r.name === problem.name) ? `"${problem.name}"` : [problem.name] });
    return [el("h2", { id: "window-title" }, problem.name), el("p", { class: "steps" }, el("button", { type: "button", onclick: only }, "Show only its runs")),
      M.facts([["group", problem.group], ["kind", problem.kind], ["data", problem.data], ["rows", text.number(problem.rows)], ["binary tests", text.number(problem.tests)], ["task", text.plain(problem.task)], ["models", text.plain(problem.space)], ["question", text.plain(problem.question)],
        ["status", { solved: "solved", open: "open: no method proved an optimum", infeasible: "infeasible" }[state_of(one)]],
        ["best known value", one.best === null ? null : `${value_of(one)} ${problem.unit || ""}`], ["best bound", one.bound === null ? null : text.number(one.bound)],
        ["proved by", one.provers.length ? one.provers.join(", ") : null], ["programs that state the bound", one.programs.length ? `${one.programs.join(", ")} (${one.programs.length})` : null], ["evidence", one.evidence],
        ["fastest proof", one.fastest ? cell("fastest", one) : null], ["thresholds", problem.thresholds]]),
      champion && M.detail(champion).predictor !== null && M.detail(champion).predictor !== undefined ? [el("h3", {}, `Best model (by ${champion.method})`), M.model(M.detail(champion).predictor)] : null,
      sizes(one), el("h3", {}, "Runs"), M.problemPlot ? M.problemPlot(one) : null,
      el("div", { class: "wide", tabindex: "0", role: "region", "aria-label": "Runs of this problem" }, el("table", {}, el("thead", {}, el("tr", {}, ["method", "seed", "status", "value", "bound", "gap", "seconds", "evidence"].map((head) => el("th", { scope: "col" }, head)))),
        el("tbody", {}, one.rows.map((row) => el("tr", { class: left.has(row) ? "" : "faint" }, el("th", { scope: "row" }, el("button", { type: "button", class: "link", onclick: () => M.openRun(row.id) }, row.method)),
          [text.number(row.seed), row.limit ? `${row.status} (${row.limit})` : row.status, text.number(row.objective), text.number(row.bound), text.share(row.gap), text.seconds(row.seconds), row.evidence].map((said) => el("td", {}, said ?? "–"))))))),
      (problem.references || []).length ? el("p", {}, "Runs that only served as reference: ", problem.references.map((r) => `${r.method} (${r.status}, ${text.number(r.objective)})`).join("; "), ".") : null];
  }
  /** Sizes of the models that formulations make of the problem, each once, with the gap of the root. */
  function sizes(one) {
    const first = new Map();
    for (const row of one.rows) if (row.formulation && row.variables !== null && !first.has(row.method)) first.set(row.method, row);
    if (!first.size) return null;
    const columns = ["variables", "binaries", "rows", "nonzeros", "root_bound", "root_gap"];
    return [el("h3", {}, "Models"), el("div", { class: "wide", tabindex: "0", role: "region", "aria-label": "Sizes of models" }, el("table", {}, el("thead", {}, el("tr", {}, el("th", { scope: "col" }, "method"), columns.map((name) => el("th", { scope: "col", class: "number", title: M.columns[name].text }, text.title(name))))),
      el("tbody", {}, [...first.values()].map((row) => el("tr", {}, el("th", { scope: "row" }, row.method), columns.map((name) => el("td", { class: "number" }, text.cell(name, row[name]))))))))];
  }
  M.view("problem", problemWindow);
  M.section({ id: "problems", title: "Problems", order: 60, draw, update: show,
    how: "One line is one problem with a single right answer. “Best known” and “proved by” come from all runs of this study, whatever is filtered; “derived again” means that two methods which share nothing proved the same optimum." });
})();
