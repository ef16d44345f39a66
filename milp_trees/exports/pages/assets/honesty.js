/* What stands behind the numbers: claims and checks, machines, and what the page leaves out. */
"use strict";
(() => {
  const { el, state, text } = M;
  const KINDS_OF_EVIDENCE = [
    ["proved by file", "good", "A checker accepted the proof file that the run wrote."],
    ["derived again", "good", "The optimum was proved twice, by methods that share nothing, with the same value."],
    ["claimed", "", "A bound that one named program states; nothing else confirmed or refuted it."],
    ["recomputed", "", "Only a value, computed again from the model on the data; no bound is claimed."],
    ["contradicted", "bad", "Another proof says something else: at least one of the two is wrong."],
    [null, "faint", "No answer: unsupported, failed, or nothing found within the limits."],
  ];
  function evidence(rows) {
    const line = ([evidence, tone, meaning]) => {
      const own = rows.filter((r) => r.evidence === evidence);
      const name = evidence || "no answer";
      const only = el("button", { type: "button", class: "link", onclick: () => { state.set({ "only.evidence": [evidence || ""], page: 0 }); M.goTo(document.getElementById("runs")); } }, text.number(own.length));
      return el("tr", {}, el("th", { scope: "row", class: own.length ? tone : null }, name), el("td", { class: "number" }, own.length ? only : "0"), el("td", {}, meaning));
    };
    return el("div", { class: "wide" }, el("table", { id: "evidence" }, el("thead", {}, el("tr", {}, ["evidence", "runs", "meaning"].map((h) => el("th", { scope: "col" }, h)))), el("tbody", {}, KINDS_OF_EVIDENCE.map(line))));
  }
  /** Per method: what it claims, and how much of it others confirmed. */
  function methods(rows) {
    const by = new Map();
    for (const row of rows) by.set(row.variant, [...(by.get(row.variant) || []), row]);
    const cells = (own) => [own.length, ...KINDS_OF_EVIDENCE.slice(0, 5).map(([evidence]) => own.filter((r) => r.evidence === evidence).length),
      own.filter((r) => r.limit).length, own.filter((r) => r.status === "unsupported").length, own.filter((r) => r.status === "error").length];
    const heads = ["method", "runs", "proved by file", "derived again", "claimed", "recomputed", "contradicted", "stopped by a limit", "unsupported", "errors"];
    return el("div", { class: "wide", tabindex: "0", role: "region", "aria-label": "Beliefs by method" }, el("table", { id: "evidence-by-method" }, el("thead", {}, el("tr", {}, heads.map((h, k) => el("th", { scope: "col", class: k ? "number" : null }, h)))),
      el("tbody", {}, [...by].map(([variant, own]) => el("tr", {}, el("th", { scope: "row" }, variant), cells(own).map((n, k) => el("td", { class: `number${n && (k === 5 || k === 8) ? " bad" : n ? "" : " faint"}` }, text.number(n))))))));
  }
  function reasons(rows) {
    const said = new Map();
    for (const row of rows) if (row.message) said.set(`${row.variant}: ${row.message}`, (said.get(`${row.variant}: ${row.message}`) || 0) + 1);
    if (!said.size) return null;
    const all = [...said].sort((a, b) => b[1] - a[1]);
    return M.part(`${text.count(all.length, "remark")} of runs (why unsupported, why failed, warnings)`, el("ul", {}, all.slice(0, 200).map(([line, n]) => el("li", {}, line, n > 1 ? el("span", { class: "count" }, ` (${n} runs)`) : ""))));
  }
  /** What is missing in this page or limits what it says. */
  function missing() {
    const { detail, left_out: damaged } = M.meta;
    const none = M.rows.filter((r) => r.time_limit === null).length;
    const notes = new Set(Object.values(M.problems).filter((p) => p.chosen).map((p) => p.thresholds));
    return [
      ...damaged,
      none ? `${text.count(none, "run")} of ${text.number(M.rows.length)} did not record a time limit; measures that need one take the longest time of the problem.` : null,
      ...[...notes].map((note) => `Optimal means optimal among the given binary tests: ${note}.`),
      detail.logs_cut ? `${text.count(detail.logs_cut, "log")} are longer than ${text.number(detail.log)} characters; the page holds their beginning and end.` : null,
      detail.traces_thinned ? `${text.count(detail.traces_thinned, "trace")} had more than ${text.number(detail.trace)} moments; moments that change little are left out.` : null,
      detail.pictures ? null : "Models are shown as text only, because the page would become too large with all drawings.",
      "The data themselves, the files of the models, and long arrays in the descriptions of problems are not in this page; the study's file has the whole rows.",
      "A bound is what the named program states; this page recomputes no bound. Values are recomputed from the models on the data when a run ends.",
    ].filter(Boolean);
  }
  M.section({ id: "honesty", title: "What is proved", order: 70,
    how: "A value is recomputed from the model on the data; a bound is only as good as the program that states it, unless another one, which shares nothing with it, proves the same.",
    update: (body) => body.replaceChildren(evidence(M.filtered), el("h3", {}, "By method"), methods(M.filtered), reasons(M.filtered) || "", el("h3", {}, "What this page leaves out"), el("ul", {}, missing().map((line) => el("li", {}, line)))) });

  // -- machines -----------------------------------------------------------------------------------
  function machines(body) {
    const stated = Object.entries(M.meta.environments);
    const runs = (fingerprint) => M.rows.filter((r) => r.environment === fingerprint).length;
    const without = M.rows.filter((r) => r.environment === null).length;
    const mixed = new Set(M.rows.map((r) => r.environment)).size > 1;
    body.replaceChildren(mixed ? el("p", { class: "warn" }, "These runs were made in different environments. Times of different environments are never averaged or compared in one figure; choose one with the filter “environment”.") : "",
      without ? el("p", {}, `${text.count(without, "run")} do not say in which environment they were made (stores of earlier versions do not record it).`) : "",
      ...stated.map(([fingerprint, one]) => el("details", { open: stated.length < 3 }, el("summary", {}, `${one.machine || "a machine without a name"} (${fingerprint.slice(0, 8)}), ${text.count(runs(fingerprint), "run")}`),
        M.facts(Object.entries(one).filter(([name]) => name !== "versions").map(([name, value]) => [name.replaceAll("_", " "), text.plain(value)])),
        one.versions ? M.part("Versions of the software", M.facts(Object.entries(one.versions).map(([name, value]) => [name, text.plain(value)]))) : null)));
  }
  M.section({ id: "machines", title: "Machines", order: 80, draw: machines,
    how: "The processor, memory, system and versions of the software with which the runs were made; a time means little without them." });

  // -- about --------------------------------------------------------------------------------------
  function about(body) {
    const { meta } = M;
    body.append(M.facts([["study", meta.title], ["file", meta.store], ...Object.entries(meta.about).filter(([name]) => !["title", "spec"].includes(name)).map(([name, value]) => [name.replaceAll("_", " "), text.plain(value)]),
      ["page made", `${meta.made.replace("T", " ").slice(0, 16)} UTC by milp-trees ${meta.version}`]]),
    meta.about.spec ? M.part("The specification of the study", el("pre", {}, meta.about.spec)) : "",
    el("p", {}, "The address of this page always describes the view: filters, sorting, columns, scales and the open window. Copy it to share what you see; printing prints it. The page is one file and loads nothing from the network."),
    el("h3", {}, "Columns"), M.part("What every column means", M.facts(Object.values(M.columns).map((column) => [column.title, column.text]))));
  }
  M.section({ id: "about", title: "About this page", order: 90, draw: about });
})();
