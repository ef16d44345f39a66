/* Two stores beside each other, usually of two versions of a program: what became slower or faster,
   which statuses and values changed. A proven value that changed is an alarm: one of the two is
   wrong. */
"use strict";
M.versions = (() => {
  const { el } = M;
  const { excludes, isNumber, isSolved, sameValue, FLOOR } = M.measures;
  const { number, seconds } = M.text;
  const KINDS = {
    alarm: "the two proofs contradict each other: one of the two answers is wrong",
    problem: "the same name stands for another problem, so nothing is compared",
    lost: "proved before and no longer",
    won: "proved now and not before",
    status: "the status changed otherwise",
    worse: "the value of the best model is worse",
    better: "the value of the best model is better",
    slower: "proved in both, slower by more than both thresholds",
    faster: "proved in both, faster by more than both thresholds",
  };

  const keyOf = (row) => JSON.stringify([row.name, row.line, row.seed ?? 0, row.permutation ?? 0]);

  const differ = (a, b) => isNumber(a.objective) && isNumber(b.objective) && !sameValue(a, b);
  /** Whether a run claims a proof, also if another run contradicts it. */
  const claims = (row) => row.status === "optimal" || row.status === "infeasible";
  const sameMachine = ({ old, now }) => (old.machine ?? null) === (now.machine ?? null);
  const sign = (row) => (row.sense === "max" ? -1 : 1);

  /** Whether what one run proved cannot be true if the other's model is what it says. */
  function contradicts(one, other) {
    if (!claims(one) || other.status === "error" || !isNumber(other.objective)) return false;
    if (one.status === "infeasible") return true;
    const bound = isNumber(one.bound) ? one.bound : one.objective;
    return excludes(sign(one) * bound, sign(one) * other.objective);
  }

  /** What changed from one run to another: a key of `KINDS`, or null. */
  function change(old, now, { factor, least }) {
    if (old.problem !== now.problem) return "problem";
    const both = isSolved(old) && isSolved(now);
    if (claims(old) && claims(now) && (old.status !== now.status || differ(old, now))) return "alarm";
    if (contradicts(old, now) || contradicts(now, old)) return "alarm";
    if (isSolved(old) !== isSolved(now)) return isSolved(now) ? "won" : "lost";
    if (old.status !== now.status) return "status";
    if (differ(old, now)) {
      return sign(now) * (now.objective - old.objective) > 0 ? "worse" : "better";
    }
    if (!both || !sameMachine({ old, now })) return null;
    if (now.seconds > factor * old.seconds && now.seconds - old.seconds > least) return "slower";
    if (old.seconds > factor * now.seconds && old.seconds - now.seconds > least) return "faster";
    return null;
  }

  /** Pairs of runs with what changed, and how many runs only one of the stores has. */
  function compare(rows, against, thresholds, all = rows) {
    const known = new Map(against.map((row) => [keyOf(row), row]));
    const pairs = rows.filter((now) => known.has(keyOf(now))).map((now) => {
      const old = known.get(keyOf(now));
      return { old, now, kind: change(old, now, thresholds) };
    });
    const here = new Set(all.map(keyOf));
    return { pairs, added: rows.length - pairs.length,
      gone: against.filter((row) => !here.has(keyOf(row))).length };
  }

  const count = (pairs, kind) => pairs.filter((pair) => pair.kind === kind).length;

  // -- the section -------------------------------------------------------------------------------
  M.state.declare("slower_factor", 1.2, (v) => v >= 1, "versions");
  M.state.declare("slower_seconds", 1, (v) => v >= 0, "versions");
  M.state.declare("change", "all", (v) => v === "all" || Object.hasOwn(KINDS, v),
    "versions");
  M.tables.declare("versions", "rank");
  const thresholds = () => ({ factor: M.state.get("slower_factor"), least: M.state.get("slower_seconds") });

  const COLUMNS = [
    { key: "kind", title: "change" },
    { key: "name", title: "problem" },
    { key: "line", title: "method" },
    { key: "seed", title: "seed", show: number },
    { key: "old_status", title: "status before" }, { key: "status", title: "now" },
    { key: "old_objective", title: "value before", show: number },
    { key: "objective", title: "now", show: number },
    { key: "old_seconds", title: "time before", show: seconds },
    { key: "seconds", title: "now", show: seconds },
    { key: "ratio", title: "ratio", show: (x) => (x === null ? "–" : M.figures.short(+x.toPrecision(3))) },
  ];

  function tableLine({ old, now, kind }) {
    return { kind, name: now.name, line: now.line, seed: now.seed, id: now.id, alarm: kind === "alarm",
      rank: Object.keys(KINDS).indexOf(kind), old_status: old.status, status: now.status,
      old_objective: old.objective, objective: now.objective, old_seconds: old.seconds,
      seconds: now.seconds, ratio: old.seconds > 0 ? now.seconds / old.seconds : null };
  }

  function entry(name, label, least, step) {
    const box = el("input", { type: "number", min: least, step, value: M.state.get(name),
      "data-state": name, "aria-label": label, onchange: () => {
        const value = Number(box.value);
        if (box.value !== "" && value >= least) M.state.set({ [name]: value });
        else box.value = M.state.get(name);
      } });
    return el("label", { class: "choice" }, `${label} `, box);
  }

  function said({ pairs, added, gone }) {
    const machines = pairs.filter((pair) => !sameMachine(pair)).length;
    const { count: counted } = M.text;
    const parts = [`${counted(pairs.length, "pair")} of runs with ${
      M.against.meta.store || "the other store"}`, `${counted(added, "run")} without a partner there, and ${
      counted(gone, "run")} there without one here`];
    if (machines) {
      parts.push(`times of ${counted(machines, "pair")} are not compared, because the machines differ`);
    }
    return `${parts.join("; ")}.`;
  }

  function update(body) {
    const found = compare(M.filtered, M.against.rows, thresholds(), M.rows);
    const { pairs } = found;
    // No filter hides an alarm.
    const alarms = count(compare(M.rows, M.against.rows, thresholds()).pairs, "alarm");
    const hidden = alarms - count(pairs, "alarm");
    const wanted = M.state.get("change");
    const lines = pairs.filter(({ kind }) => kind && (wanted === "all" || kind === wanted)).map(tableLine);
    const kinds = Object.keys(KINDS).map((kind) => [kind, `${kind} (${count(pairs, kind)})`]);
    M.plots.keepFocus(body, () => body.replaceChildren(
      el("p", { class: alarms ? "alarm" : "calm", role: alarms ? "alert" : null }, alarms
        ? `ALARM: ${M.text.count(alarms, "pair")} of runs contradict each other although they were proved${
          hidden ? ` (${hidden} of them hidden by the filters)` : ""}.`
        : "No proven value changed."),
      el("p", {}, said(found)),
      el("p", { class: "switches" },
        entry("slower_factor", "slower or faster by more than a factor of", 1, 0.05),
        entry("slower_seconds", "and by more than seconds", 0, 0.1),
        M.plots.choice("change", "show", [["all", "all changes"], ...kinds])),
      el("dl", { class: "kinds" }, Object.entries(KINDS).filter(([kind]) => count(pairs, kind))
        .flatMap(([kind, sentence]) => [el("dt", {}, `${kind}: ${count(pairs, kind)}`), el("dd", {}, sentence)])),
      scatter(pairs, body.clientWidth || 720),
      M.tables.table({ id: "versions", columns: COLUMNS, lines,
        caption: `Changes by more than a factor of ${thresholds().factor} and ${thresholds().least} s`,
        open: (line) => M.openRun?.(line.id) })));
  }

  const MARKS = { slower: ["var(--series-1)", "triangle"], faster: ["var(--series-2)", "square"],
    alarm: ["var(--bad)", "star"] };

  function scatter(pairs, room) {
    const dots = pairs
      .filter((pair) => isSolved(pair.old) && isSolved(pair.now) && sameMachine(pair))
      .map(({ old, now, kind }) =>
        ({ x: Math.max(old.seconds, FLOOR), y: Math.max(now.seconds, FLOOR), kind, now }));
    if (!dots.length) {
      return el("p", { class: "nothing" }, "No pair was proved in both stores on one machine.");
    }
    const width = Math.max(300, Math.min(room, 620));
    const [low, high] = d3.extent(dots.flatMap(({ x, y }) => [x, y]));
    const domain = [low / 1.3, high * 1.3];
    const edge = d3.range(60).map((i) => domain[0] * (domain[1] / domain[0]) ** (i / 59));
    const { factor, least } = thresholds();
    const colour = ({ kind }) => MARKS[kind]?.[0] ?? "var(--series-0)";
    const short = M.figures.short;
    const axis = (label) => ({ type: "log", domain, label, grid: true, tickFormat: short, ticks: 6 });
    const svg = Plot.plot({
      width, height: width * 0.8, marginTop: 26, marginLeft: 54, marginBottom: 40, clip: true,
      style: M.figures.PLAIN, x: axis("seconds before"), y: axis("seconds now"),
      marks: [
        Plot.line(domain.map((v) => [v, v]), { stroke: "currentColor", strokeOpacity: 0.5 }),
        ...[1, -1].map((side) => Plot.line(edge.map((v) => {
          const limit = Math.max(factor * v, v + least);
          return side > 0 ? [v, limit] : [limit, v];
        }), { stroke: "currentColor", strokeDasharray: "3 3", strokeOpacity: 0.5 })),
        Plot.dot(dots, { x: "x", y: "y", r: 3.5, fillOpacity: 0.3,
          stroke: colour, fill: colour, symbol: ({ kind }) => MARKS[kind]?.[1] ?? "circle" }),
        Plot.tip(dots, Plot.pointer({ x: "x", y: "y", fill: "var(--paper)",
          title: ({ x, y, kind, now }) => `${now.name}, seed ${now.seed ?? 0}\n${now.line}\n${
            short(x)} s → ${short(y)} s${kind ? `\n${kind}` : ""}` })),
      ],
      color: { type: "identity" }, symbol: { type: "identity" },
    });
    M.plots.head(svg, "Times before and now", `${dots.length} pairs of runs that were proved in both; the dashed lines are the thresholds: a factor of ${factor} and ${least} s`);
    return el("div", { class: "plot" }, el("p", { class: "switches" }, el("button", { type: "button",
      class: "save", onclick: () => M.downloads.svg(svg, "versions") }, "SVG")), svg);
  }

  M.on("ready", () => {
    if (M.against) {
      M.section({ id: "versions", title: "Changes against the other store", order: 15, update,
        how: "Every run is paired with the same method on the same problem and seed in the other store; a dot above the diagonal became slower." });
    }
  });
  return { KINDS, change, compare };
})();
