/* Incumbent and bound over time: of the runs on one instance, and of one run in its details. */
"use strict";
(() => {
  const { el } = M;
  const { figure, look, nameSeries, withLegend } = M.plots;
  const { PLAIN, along, short } = M.figures;
  const { FLOOR, groups, instanceOf, isNumber } = M.measures;

  const label = (row) => `${row.name}${row.seed ? `, seed ${row.seed}` : ""}${
    row.permutation ? `, permutation ${row.permutation}` : ""}`;

  /** Points of both curves of a run; each keeps its last value to the end of the run. */
  function points(row) {
    return M.integrals.states(row).map(({ seconds, incumbent, bound }) => ({
      row, line: row.line, seconds: Math.max(seconds, FLOOR), incumbent, bound }));
  }

  /** Ends of the value axis: all last values, and first ones that are not far away. First bounds of
      weak models may be larger by orders of magnitude; their curves then enter the figure later. */
  function visible(all) {
    const of = (name) => [...groups(all, ({ row }) => row).values()]
      .map((run) => run.map((p) => p[name]).filter(isNumber)).filter((v) => v.length);
    const [incumbents, bounds] = [of("incumbent"), of("bound")];
    const ends = bounds.map((v) => v.at(-1));
    let values = incumbents.map((v) => v.at(-1));
    if (!values.length) values = ends.length ? ends : [0, 1];
    let [low, high] = d3.extent(values);
    const reach = Math.max(high - low, 1.05 * Math.max(Math.abs(low), Math.abs(high))) || 1;
    [low, high] = d3.extent([...values,
      ...ends.map((b) => Math.min(Math.max(b, low - reach), high + reach))]);
    const span = high - low || reach / 10;
    const [least, most] = d3.extent([low, high, ...incumbents.flat()]);
    [low, high] = [Math.max(low - span, least), Math.min(high + span, most)];
    const margin = 0.05 * (high - low) || 0.5;
    return [low - margin, high + margin];
  }

  function draw(rows, { x, y }, width, legend = true) {
    const all = rows.flatMap(points);
    const known = all.flatMap((p) => [p.incumbent, p.bound]).filter(isNumber);
    if (!known.length) return "No run on this instance found a value or a bound.";
    const log = y === "log";
    if (log && Math.min(...known) <= 0) return "A logarithmic y axis needs positive values and bounds: switch y to linear.";
    const lines = [...new Set(rows.map((row) => row.line))];
    const paths = rows.flatMap((row) => [["incumbent", null], ["bound", "4 3"]].map(([name, dash]) =>
      ({ row, name, dash, points: points(row).filter((p) => isNumber(p[name])) })))
      .filter((path) => path.points.length);
    const domain = [x === "log" ? FLOOR : 0, Math.max(...all.map((p) => p.seconds), 2 * FLOOR) * 1.1];
    const tips = paths.flatMap(({ name, points: own }) => along(own, "seconds", domain, x === "log")
      .map((p) => ({ ...p, name, value: p[name] })));
    const svg = Plot.plot({
      width, height: 30 + Math.max(230, Math.min(340, width * 0.5)), style: PLAIN, clip: true,
      marginTop: 26, marginLeft: 60, marginBottom: 40,
      x: { type: x, label: "seconds", grid: true, tickFormat: short, ticks: width < 500 ? 4 : 8, domain },
      y: { type: log ? "log" : "linear", label: rows[0].unit ?? "value", grid: true,
        tickFormat: short, domain: log ? d3.extent(known) : visible(all) },
      marks: [
        ...paths.map(({ row, name, dash, points: own }) => Plot.line(own, { x: "seconds", y: name,
          stroke: look(row.line).colour, strokeDasharray: dash, strokeWidth: dash ? 1.6 : 2.2,
          curve: "step-after", className: "series" })),
        ...["incumbent", "bound"].map((name) => Plot.dot(
          paths.filter((path) => path.name === name).map(({ points: own }) => own.at(-1)),
          { x: "seconds", y: name, r: 3.5, className: "ends",
            stroke: (p) => look(p.line).colour, symbol: (p) => look(p.line).symbol })),
        Plot.tip(tips, Plot.pointer({ x: "seconds", y: "value", maxRadius: 80, fill: "var(--paper)",
          title: (p) => `${p.line}\n${short(p.seconds)} s\n${p.name} ${short(p.value)}` })),
      ],
      color: { type: "identity" }, symbol: { type: "identity" },
    });
    nameSeries(svg, paths.map(({ row }) => row.line), "g.series path");
    return legend ? withLegend(svg, lines, { symbols: true }) : svg;
  }

  // -- the section -------------------------------------------------------------------------------
  M.state.declare("curves_of", "", () => true, "curves");
  function chosen(rows) {
    const all = [...groups(rows.filter((row) => row.status !== "unsupported"), instanceOf)];
    const wanted = M.state.get("curves_of");
    const one = all.find(([key]) => key === wanted) ?? all[0];
    return { all, key: one?.[0], runs: one?.[1] ?? [] };
  }

  figure({
    id: "curves", title: "Incumbent and bound over time", order: 30, timed: false, common: true,
    scales: { x: "log", y: "linear" },
    how: "Solid is the value of the best model so far, dashed the proven bound of one instance; the run is proved where the two meet.",
    more({ rows }) {
      const { all, key } = chosen(rows);
      return M.plots.pick("curves_of", "instance",
        all.map(([name, runs]) => [name, label(runs[0])]), key);
    },
    draw({ rows }, scales, width) {
      const { runs } = chosen(rows);
      return runs.length ? draw(runs, scales, width) : "No run is left that a method supports.";
    },
    about: ({ rows }) => {
      const { runs } = chosen(rows);
      return runs.length ? `${label(runs[0])}; ${M.text.count(runs.length, "run")}` : "";
    },
  });

  /** The curves of one run, for its details. */
  M.tracePlot = (row) => {
    const drawn = draw([row], { x: "log", y: "linear" }, 520, false);
    return typeof drawn === "string" ? el("p", { class: "nothing" }, drawn)
      : el("div", { class: "plot" }, M.plots.head(drawn, "Incumbent (solid) and bound (dashed)", label(row)));
  };
})();
