/* The first section: how many runs, problems and methods are left, and how the runs ended. */
"use strict";
(() => {
  const { el, text } = M;
  const distinct = (rows, name) => new Set(rows.map((row) => row[name])).size;

  function tiles(rows) {
    const solved = rows.filter((r) => r.status === "optimal" || r.status === "infeasible").length;
    const limited = rows.filter((r) => r.limit).length;
    const count = (status) => rows.filter((r) => r.status === status).length;
    const wrong = rows.filter((r) => r.evidence === "contradicted").length;
    return [["runs", rows.length], ["problems", distinct(rows, "problem")], ["methods", distinct(rows, "variant")], ["proved an optimum", solved, "good"],
      ["stopped by a limit", limited], ["unsupported", count("unsupported")], ["errors", count("error"), "bad"], ["contradicted", wrong, "bad"]];
  }
  function update(body) {
    body.replaceChildren(el("ul", { class: "tiles" }, tiles(M.filtered).map(([name, n, tone]) =>
      el("li", {}, el("strong", { class: n ? tone : null }, text.number(n)), name))));
  }
  M.section({ id: "summary", title: "Summary", order: 10, update,
    how: "What the filters leave. A run “proved an optimum” if its method ended by itself and claims that no better model exists (or that none is feasible); “contradicted” runs do not fit to another proof." });
})();
