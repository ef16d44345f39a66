/* Tables of aggregates per method, ratios against a chosen base, and two methods side by side. */
"use strict";
(() => {
  const { choice, clip, conditions, figure, keepFocus, pick, switches, view } = M.plots;
  const { PLAIN, lined, short } = M.figures;
  const { number, seconds } = M.text;
  const { FLOOR, table: runTable, timeOf, isSolved } = M.measures;
  const { table, declare } = M.tables;

  const supported = (rows) => rows.filter((row) => row.status !== "unsupported");
  /** The lines that can be compared; under `intersection` those that proved something. */
  const names = ({ rows, mode }) => [...runTable(rows, mode).lines]
    .sort((a, b) => a.localeCompare(b, "en", { numeric: true }));
  const p = (x) => (x === null || x === undefined ? "–" : x < 0.001 ? "<0.001" : x.toFixed(3));

  // -- one line per method -----------------------------------------------------------------------
  declare("methods", "sgm");
  const METHODS = [
    { key: "line", title: "method" },
    { key: "runs", title: "runs", show: number },
    { key: "solved", title: "proved", show: number, text: "runs with a proof that nothing contradicts" },
    { key: "sgm", title: "SGM", show: seconds, text: "shifted geometric mean of the times" },
    { key: "par10", title: "PAR10", show: seconds, text: "mean time; a run without proof counts with ten times its limit" },
    { key: "pdi", title: "PDI", show: seconds, text: "mean primal-dual integral" },
    { key: "errors", title: "errors", show: number },
    { key: "wins", title: "fastest", show: number, text: "instances that it proved fastest" },
    { key: "alone", title: "alone", show: number, text: "instances that only it proved" },
    { key: "proved by file", title: "proved by file", show: number, text: "runs whose proof file a checker accepted" },
    { key: "derived again", title: "derived again", show: number, text: "runs whose value another method proved too" },
    { key: "claimed", title: "claimed", show: number, text: "runs whose bound stands on the word of one program" },
    { key: "contradicted", title: "contradicted", show: number },
  ];

  function virtualBestLine({ chosen }, mode, shift) {
    const times = chosen.map(({ seconds: t }) => t);
    const par = chosen.map(({ row }) => timeOf(row, "par10"));
    return { line: "(virtual best)", runs: chosen.length,
      solved: chosen.filter(({ solved }) => solved).length,
      sgm: M.measures.shiftedGeometricMean(times, shift),
      par10: par.length ? M.measures.mean(par) : null };
  }

  M.section({
    id: "methods", title: "Methods", order: 20,
    how: "SGM is the shifted geometric mean of the times and PAR10 their mean with ten times the limit for a run without proof; PDI is the mean primal-dual integral over all runs; the virtual best takes the fastest method on each instance.",
    update(body) {
      const seen = view();
      const { rows, mode, shift } = seen;
      const best = M.measures.virtualBest(rows, mode);
      const agreed = new Map(M.measures.agreement(rows).map((one) => [one.line, one]));
      const integrals = new Map(M.integrals.meanIntegrals(rows, "primal-dual", M.integrals.context(M.rows))
        .map((one) => [one.line, one.mean]));
      const lines = M.measures.summary(rows, mode, shift).map((one) => ({
        ...one, wins: best.wins.get(one.line), alone: best.alone.get(one.line),
        ...agreed.get(one.line), pdi: integrals.get(one.line) ?? null,
      }));
      lines.push(virtualBestLine(best, mode, shift));
      const shifts = [0.01, 0.1, 1, 10].map((s) => [s, `${s} s`]);
      keepFocus(body, () => body.replaceChildren(
        M.el("p", { class: "switches" }, switches(seen, true),
          choice("shift", "shift", shifts, { convert: Number })),
        table({ id: "methods", columns: METHODS, lines,
          caption: `Methods: ${conditions(seen)}; shift ${shift} s` })));
    },
  });

  // -- ratios against a base ---------------------------------------------------------------------
  M.state.declare("base", "");
  M.state.declare("other", "", () => true, "pair");
  /** The chosen base, else a line with the most runs. */
  function baseOf(seen) {
    const runs = M.measures.groups(supported(seen.rows), (row) => row.line);
    const wanted = M.state.get("base");
    const all = names(seen);
    if (all.includes(wanted)) return wanted;
    return all.sort((a, b) => runs.get(b).length - runs.get(a).length)[0];
  }
  const named = (all) => all.map((line) => [line, line]);

  declare("ratios", "ratio");
  const RATIOS = [
    { key: "line", title: "method" },
    { key: "ratio", title: "time ratio", show: number3, text: "geometric mean of (time + shift) / (time of the base + shift)" },
    { key: "low", title: "from", show: number3, text: "lower end of the 95 % bootstrap interval over problems" },
    { key: "high", title: "to", show: number3 },
    { key: "instances", title: "instances", show: number },
    { key: "faster", title: "faster", show: number },
    { key: "slower", title: "slower", show: number },
    { key: "p", title: "p", show: p, text: "Wilcoxon's signed-rank test over data sets" },
    { key: "holm", title: "p (Holm)", show: p, text: "adjusted for the number of methods compared" },
  ];
  function number3(x) {
    return x === null || x === undefined ? "–" : short(+x.toPrecision(3));
  }

  let kept = {};
  /** Both parts of the section need the ratios; the intervals are drawn only once. */
  function ratios(seen) {
    const { rows, mode, shift } = seen;
    const base = baseOf(seen);
    const of = [M.filtered, rows.length, rows[0], base, mode, shift];
    if (!kept.of?.every((part, i) => part === of[i])) {
      kept = { of, base, found: M.statistics.pairwiseRatios(rows, base, mode, shift) };
    }
    return kept;
  }

  figure({
    id: "ratios", title: "Ratios against a base", order: 25, common: true, scales: { x: "log" },
    how: "Left of 1 a method is faster than the base, right of it slower; the bar is the 95 % interval of a bootstrap over problems, and if it holds 1 the data do not tell them apart.",
    more: (seen) => (baseOf(seen) ? pick("base", "base", named(names(seen)), baseOf(seen)) : []),
    draw(seen, { x }, width) {
      const { base, found } = ratios(seen);
      if (!base) return "No method has a run that counts.";
      const shown = found.filter(({ ratio }) => ratio !== null).sort((a, b) => a.ratio - b.ratio);
      if (!shown.length) return `No other method has an instance in common with ${base}.`;
      return Plot.plot(lined(shown.map(({ line }) => line), width, {
        x: { type: x, label: `time / time of ${clip(base, 24)} (shift ${seen.shift} s)`,
          grid: true, tickFormat: short, ticks: width < 500 ? 3 : 7, ...reach(shown, x) },
        marks: [
          Plot.ruleX([1], { strokeDasharray: "4 3" }),
          Plot.ruleY(shown.filter(({ low }) => low !== null), { x1: "low", x2: "high", y: "line",
            stroke: "line", strokeWidth: 5, strokeOpacity: 0.45 }),
          Plot.dot(shown, { x: "ratio", y: "line", stroke: "line", symbol: "line", r: 4.5,
            strokeWidth: 2 }),
          Plot.tip(shown, Plot.pointer({ x: "ratio", y: "line", fill: "var(--paper)",
            title: (d) => `${d.line}\n${number3(d.ratio)} times ${base}\n95 %: ${number3(d.low)} to ${
              number3(d.high)}\n${d.instances} instances of ${d.problems} problems` })),
        ],
      }));
    },
    after: (seen) => (baseOf(seen) ? [table({ id: "ratios", columns: RATIOS, lines: ratios(seen).found,
      caption: `Ratios against ${ratios(seen).base}: ${conditions(seen, { common: true })}; shift ${
        seen.shift} s` })] : []),
  });

  /** A domain that holds 1 and all intervals. */
  function reach(shown, scale) {
    const values = [1, ...shown.flatMap(({ ratio, low, high }) => [ratio, low ?? ratio, high ?? ratio])];
    const [least, most] = [Math.min(...values), Math.max(...values)];
    return { domain: scale === "log" ? [least / 1.15, most * 1.15] : [Math.min(0, least), most * 1.05] };
  }

  // -- two methods, a dot per instance -----------------------------------------------------------
  function pair(seen) {
    const all = names(seen);
    const base = baseOf(seen);
    const wanted = M.state.get("other");
    const other = all.includes(wanted) && wanted !== base ? wanted : all.find((v) => v !== base);
    return { all, base, other };
  }

  figure({
    id: "pair", title: "Two methods, instance by instance", order: 26, common: true, scales: { x: "log", y: "log" },
    how: "A dot is an instance: below the diagonal the vertical method is faster; crosses are instances that one of the two did not prove.",
    more: (seen) => {
      const { all, base, other } = pair(seen);
      const others = named(all.filter((line) => line !== base));
      return other ? [pick("base", "horizontal", named(all), base),
        pick("other", "vertical", others, other)] : [];
    },
    draw(seen, { x, y }, width) {
      const { rows, mode } = seen;
      const { base, other } = pair(seen);
      if (!other) return "Two methods are needed.";
      const dots = runTable(rows, mode).instances
        .filter(({ runs }) => runs.has(base) && runs.has(other))
        .map(({ row, runs }) => {
          const [a, b] = [runs.get(base), runs.get(other)];
          return { name: row.name, seed: row.seed, id: b.id, both: isSolved(a) && isSolved(b),
            x: Math.max(timeOf(a, mode), FLOOR), y: Math.max(timeOf(b, mode), FLOOR) };
        });
      if (!dots.length) return `No instance has runs of both ${base} and ${other}.`;
      const values = dots.flatMap((d) => [d.x, d.y]);
      const domain = [Math.min(...values) / 1.3, Math.max(...values) * 1.3];
      const side = Math.min(width, 560);
      const axis = (type, label) => ({ type, label, domain: type === "log" ? domain : [0, domain[1]],
        grid: true, tickFormat: short, ticks: 5 });
      const line = { stroke: "currentColor", strokeOpacity: 0.5 };
      return Plot.plot({
        width: side, height: side * 0.8, marginTop: 26, marginLeft: 52,
        marginBottom: 40, style: PLAIN, x: axis(x, `${clip(base, 40)} (seconds)`), y: axis(y, `${clip(other, 40)} (seconds)`),
        marks: [
          ...(x === y ? [Plot.line([domain[0], domain[1]].map((v) => [v, v]), line)] : []),
          Plot.dot(dots.filter((d) => d.both), { x: "x", y: "y", r: 3.5, stroke: "var(--series-0)",
            fill: "var(--series-0)", fillOpacity: 0.25 }),
          Plot.dot(dots.filter((d) => !d.both), { x: "x", y: "y", r: 4.5, symbol: "times",
            stroke: "var(--series-1)", strokeWidth: 1.8 }),
          Plot.tip(dots, Plot.pointer({ x: "x", y: "y", fill: "var(--paper)",
            title: (d) => `${d.name}, seed ${d.seed ?? 0}\n${base}: ${short(d.x)} s\n${other}: ${short(d.y)} s` })),
        ],
      });
    },
  });

  // -- seeds and permutations --------------------------------------------------------------------
  declare("variability", "-ratio");
  const VARIABILITY = [
    { key: "name", title: "problem" },
    { key: "line", title: "method" },
    { key: "runs", title: "runs", show: number },
    { key: "solved", title: "proved", show: number },
    { key: "mean", title: "SGM", show: seconds, text: "shifted geometric mean of the times" },
    { key: "least", title: "least", show: seconds },
    { key: "most", title: "most", show: seconds },
    { key: "ratio", title: "ratio", show: number3, text: "(most + shift) / (least + shift)" },
    { key: "score", title: "score", show: number3, text: "standard deviation divided by the mean" },
  ];
  M.section({
    id: "variability", title: "Performance variability", order: 28,
    how: "Times of one method on one problem over its seeds and permutations of rows and columns, which should not matter; two methods that differ by less than that are not told apart.",
    update(body) {
      const seen = view();
      const lines = M.statistics.variability(seen.rows, seen.mode, seen.shift);
      keepFocus(body, () => body.replaceChildren(lines.length
        ? table({ id: "variability", columns: VARIABILITY, lines,
          caption: `Variability: ${conditions(seen)}; shift ${seen.shift} s` })
        : M.el("p", { class: "nothing" }, "No method has two runs on a problem that count.")));
    },
  });
})();
