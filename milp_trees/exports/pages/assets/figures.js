/* Figures over all instances: proofs over time, profiles, times to targets, integrals, ranks. */
"use strict";
M.figures = (() => {
  const { choice, clip, figure, grow, look, nameSeries, scalesOf, withLegend } = M.plots;
  const { FLOOR, groups, mean } = M.measures;
  const PLAIN = { background: "none", overflow: "visible", fontFamily: "inherit" };

  const short = (x) => (x === null ? "–" : x === 0 ? "0"
    : Math.abs(x) >= 1e5 || Math.abs(x) < 1e-3 ? x.toExponential(1) : String(+x.toPrecision(4)));

  /** Places on a step curve at which a pointer finds it: its steps, and many between them. */
  function along(points, key, [start, end], log) {
    const grid = d3.range(81).map((i) => (log ? start * (end / start) ** (i / 80)
      : start + (end - start) * (i / 80)));
    const last = points.at(-1)[key];
    const between = grid.filter((x) => x >= points[0][key] && x <= last).map((x) =>
      ({ ...points.findLast((p) => p[key] <= x), [key]: x }));
    return [...points, ...between];
  }

  /** One step curve per line of the figure; each keeps its level to the right end. */
  function steps(series, { width, label, log, first }) {
    const largest = Math.max(first * 2, ...series.flatMap(({ points }) => points.map((p) => p.x)));
    const end = largest * (log ? 1.15 : 1.02);
    const start = log || first === 1 ? first : 0;
    const curves = series.map(({ line, points }) => ({ line, points:
      [{ x: start, share: 0 }, ...points, { x: end, share: points.at(-1)?.share ?? 0 }]
        .map(({ x, share }) => ({ x: Math.max(x, start), share, line })) }));
    const names = curves.map(({ line }) => line);
    const svg = Plot.plot({
      width, height: 30 + Math.max(230, Math.min(340, width * 0.5)), style: PLAIN,
      marginTop: 26, marginLeft: 46, marginBottom: 40,
      x: { type: log ? "log" : "linear", label, domain: [start, end], grid: true,
        ticks: width < 500 ? 4 : 8, tickFormat: short },
      y: { label: "share of instances", domain: [0, 1], grid: true, tickFormat: "%" },
      marks: [
        ...curves.map(({ line, points }) => Plot.line(points, { x: "x", y: "share",
          stroke: look(line).colour, strokeDasharray: look(line).dash, strokeWidth: 2,
          curve: "step-after", className: "series" })),
        Plot.tip(curves.flatMap(({ points }) => along(points, "x", [start, end], log)), Plot.pointer({
          x: "x", y: "share", maxRadius: 80, fill: "var(--paper)", title: (p) => `${p.line}\n${label}: ${short(p.x)}\n${
            short(100 * p.share)} % of instances` })),
      ],
    });
    nameSeries(svg, names, "g.series path");
    return withLegend(svg, names);
  }

  figure({
    id: "solved", title: "Proved over time", order: 21, scales: { x: "log" },
    how: "A curve that is higher at time t belongs to a method that proved more instances within t seconds.",
    draw: ({ rows, mode }, { x }, width) => steps(M.measures.solvedOverTime(rows, mode),
      { width, label: "seconds", log: x === "log", first: FLOOR }),
  });
  figure({
    id: "profile", title: "Performance profile", order: 22, scales: { x: "log" },
    how: "The height at factor f is the share of instances that a method proves in at most f times the time of the fastest; at factor 1 it is the share on which it is the fastest.",
    draw: ({ rows, mode }, { x }, width) => steps(M.measures.performanceProfile(rows, mode),
      { width, label: "time / time of the fastest", log: x === "log", first: 1 }),
  });

  const TARGETS = [[0, "the best value"], [0.001, "0.1 %"], [0.01, "1 %"], [0.05, "5 %"],
    [0.1, "10 %"]];
  M.state.declare("target", 0, (v) => v >= 0 && v < 1, "target");
  figure({
    id: "target", title: "Time to target", order: 23, scales: { x: "log" }, timed: false,
    how: "The height at time t is the share of instances whose incumbent is within the target of the best known value after t seconds, proved or not.",
    more: () => choice("target", "within", TARGETS, { convert: Number }),
    draw: ({ rows }, { x }, width) => {
      const target = M.state.get("target");
      const series = M.integrals.timesToTarget(rows, target, M.integrals.context(M.rows));
      const label = `seconds to ${target ? `a gap of ${short(100 * target)} %` : "the best value"}`;
      return steps(series, { width, label, log: x === "log", first: FLOOR });
    },
  });

  /** One line per name, sorted; the left margin holds the names. */
  function lined(names, width, rest) {
    const left = Math.min(width * 0.4, 14 + 6.3 * Math.max(...names.map((v) => v.length)));
    return { width, height: 50 + 21 * names.length, style: PLAIN,
      marginTop: 8, marginLeft: left, marginBottom: 40, marginRight: 24,
      y: { domain: names, label: null, tickSize: 0,
        tickFormat: (v) => clip(v, Math.floor((left - 8) / 6)) },
      ...scalesOf(names), ...rest };
  }

  /** One strip per line: its runs as dots, its mean as a bar. */
  function strips(found, { width, label, log }) {
    const positive = found.map(({ value }) => value).filter((v) => v > 0);
    const least = Math.max(FLOOR, Math.min(...positive) / 2);
    const at = (v) => (log ? Math.max(v, least) : v);
    const means = [...groups(found, ({ row }) => row.line)].map(([line, all]) =>
      ({ line, value: mean(all.map(({ value }) => value)), runs: all.length }))
      .sort((a, b) => a.value - b.value);
    const dots = found.map(({ row, value }) => ({ row, value, line: row.line }));
    return Plot.plot(lined(means.map(({ line }) => line), width, {
      x: { type: log ? "log" : "linear", label, grid: true, tickFormat: short,
        ticks: width < 500 ? 3 : 8 },
      marks: [
        Plot.dot(dots, { x: (d) => at(d.value), y: "line", stroke: "line", symbol: "line",
          r: 2.6, strokeOpacity: 0.6 }),
        Plot.tickX(means, { x: (d) => at(d.value), y: "line", strokeWidth: 3,
          stroke: "currentColor" }),
        Plot.tip(dots, Plot.pointer({ x: (d) => at(d.value), y: "line", fill: "var(--paper)",
          title: ({ row, line, value }) => `${line}\n${row.name}, seed ${row.seed ?? 0}\n${
            label}: ${short(value)}\nmean: ${
            short(means.find((m) => m.line === line).value)}` })),
      ],
    }));
  }

  const KINDS = [["primal", "primal (incumbent to best known)"],
    ["dual", "dual (bound to best known)"], ["primal-dual", "primal-dual (incumbent to bound)"]];
  M.state.declare("integral", "primal-dual", (v) => KINDS.some(([kind]) => kind === v),
    "integrals");
  figure({
    id: "integrals", title: "Integrals of the gap", order: 24, scales: { x: "log" }, timed: false,
    how: "A dot is a run, the bar the mean of a method: the gap (0 to 1) summed over the seconds up to the time limit, so less is better; good answers early count, also without a proof.",
    more: () => choice("integral", "gap", KINDS),
    draw: ({ rows }, { x }, width) => {
      const kind = M.state.get("integral");
      const found = M.integrals.integrals(rows, kind, M.integrals.context(M.rows));
      if (!found.length) return "No run is about a problem with a known value.";
      return strips(found, { width, label: `${kind} integral (seconds)`, log: x === "log" });
    },
  });

  function rankPlot({ lines, ranks, difference, sets, p, groups: together }, width) {
    const shown = lines.map((line, i) => ({ line, rank: ranks[i] }))
      .sort((a, b) => a.rank - b.rank);
    const names = shown.map(({ line }) => line);
    const narrow = width < 480;
    const label = `mean rank${narrow ? "; " : " over "}${sets} data sets; critical difference ${
      short(difference)}${p === null ? "" : `; ${narrow ? "" : "Friedman's test "}p = ${short(p)}`}`;
    const svg = Plot.plot(lined(names, width, {
      marginTop: 40, height: 46 + 21 * names.length, marginBottom: 2,
      x: { axis: "top", grid: true, label, labelAnchor: "left", nice: true },
      marks: [
        Plot.dot(shown, { x: "rank", y: "line", stroke: "line", symbol: "line", r: 5,
          strokeWidth: 2.5 }),
        Plot.tip(shown, Plot.pointer({ x: "rank", y: "line", fill: "var(--paper)",
          title: (d) => `${d.line}\nmean rank ${short(d.rank)}` })),
      ],
    }));
    const { bottom } = grow(svg, 0, 8 * together.length + 8);
    const x = svg.scale("x").apply;
    d3.select(svg).selectAll("line.together").data(together).join("line")
      .attr("class", "together").attr("stroke", "currentColor").attr("stroke-width", 3.5)
      .attr("x1", ([low]) => x(low) - 3).attr("x2", ([, high]) => x(high) + 3)
      .attr("y1", (_, i) => bottom + 6 + 8 * i).attr("y2", (_, i) => bottom + 6 + 8 * i);
    return svg;
  }

  figure({
    id: "ranks", title: "Mean ranks with critical difference", order: 27, common: true,
    how: "Each data set ranks the methods by time (1 is the fastest); a bar below joins methods whose mean ranks do not differ significantly (Nemenyi's test at 5 %).",
    draw: ({ rows, mode, shift }, _, width) => {
      const found = M.statistics.criticalDifference(rows, mode, shift);
      if (!found.ranks) return "Ranks need two methods and two data sets on which all methods have a run: filter to methods that ran on the same data.";
      return rankPlot(found, width);
    },
  });

  return { PLAIN, along, lined, short };
})();
