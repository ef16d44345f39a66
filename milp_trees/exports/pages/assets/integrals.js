/* Integrals of gaps over time (Berthold 2013) and times to targets; definitions as in the Python
   package `milp_trees.studies.measures`. */
"use strict";
M.integrals = (() => {
  const { groups, instanceOf, isNumber, mean, problemOf, shares } = M.measures;

  // Between 0 and 1: 0 for equal values, 1 if one is unknown or their signs differ.
  function gap(a, b) {
    if (!isNumber(a) || !isNumber(b)) return 1;
    if (a === b) return 0;
    if (a * b < 0) return 1;
    return Math.abs(a - b) / Math.max(Math.abs(a), Math.abs(b));
  }

  // The best value that an uncontradicted run of each problem holds.
  function bestValues(rows) {
    const best = new Map();
    for (const row of rows) {
      if (!isNumber(row.objective) || row.status === "error" || row.agrees === false) continue;
      const key = problemOf(row);
      const known = best.get(key);
      const better = row.sense === "max" ? row.objective > known : row.objective < known;
      if (known === undefined || better) best.set(key, row.objective);
    }
    return best;
  }

  // The run's states over time, with the final state at its end; what is unknown at a moment is
  // what was known before.
  function states(row) {
    const points = [...(row.trace ?? []), [row.seconds, row.objective, row.bound]];
    let [incumbent, bound] = [null, null];
    return points.map(([seconds, value, proven]) => {
      incumbent = value ?? incumbent;
      bound = proven ?? bound;
      return { seconds, incumbent, bound };
    });
  }

  // Until when each run is integrated: its time limit, else the longest run of its problem.
  function horizons(rows) {
    const longest = new Map([...groups(rows, problemOf)].map(([key, runs]) =>
      [key, Math.max(...runs.map((row) => row.seconds))]));
    return (row) => (isNumber(row.allowed) ? row.allowed : longest.get(problemOf(row)));
  }

  const GAPS = {
    primal: (state, best) => gap(state.incumbent, best),
    dual: (state, best) => gap(state.bound, best),
    "primal-dual": (state) => gap(state.incumbent, state.bound),
  };

  // Integral of a gap from 0 to `end`, in seconds: the gap is 1 before the first state, constant
  // between states, and keeps its last value until the end; the dual and the primal-dual gap of a proven
  // run are 0 from its end, although a solver may stop at a bound that integrality makes tight.
  function integral(row, kind, best, end) {
    let total = 0;
    let since = 0;
    let level = 1;
    for (const state of states(row)) {
      const at = Math.min(Math.max(state.seconds, since), end);
      total += level * (at - since);
      since = at;
      level = GAPS[kind](state, best);
    }
    if (kind !== "primal" && row.status === "optimal" && row.agrees !== false) level = 0;
    return total + level * Math.max(end - since, 0);
  }

  // What is integrated is decided by all rows, so that filters change neither the best values nor
  // the ends of the integrals.
  function context(rows) {
    return { best: bestValues(rows), end: horizons(rows) };
  }

  // Supported runs of problems with a known value, with their integral.
  function integrals(rows, kind, { best, end } = context(rows)) {
    return rows
      .filter((row) => row.status !== "unsupported" && best.has(problemOf(row)))
      .map((row) => ({ row, value: integral(row, kind, best.get(problemOf(row)), end(row)) }));
  }

  function meanIntegrals(rows, kind, known = context(rows)) {
    return [...groups(integrals(rows, kind, known), ({ row }) => row.line)]
      .map(([line, found]) => ({
        line,
        runs: found.length,
        mean: mean(found.map(({ value }) => value)),
      }));
  }

  // A value that a solver computed in floating point may be a rounding error away.
  const ROUNDING = 1e-9;
  // The first time at which the primal gap is at most `target`; infinity if it never is.
  function timeToTarget(row, target, best) {
    let latest = 0;
    for (const state of states(row)) {
      latest = Math.max(latest, state.seconds);
      if (gap(state.incumbent, best) <= target + ROUNDING) return latest;
    }
    return Infinity;
  }

  // Share of all instances with a known value on which a line reaches the target within a time.
  function timesToTarget(rows, target, { best } = context(rows)) {
    const known = rows.filter((row) => row.status !== "unsupported" && best.has(problemOf(row)));
    const instances = new Set(known.map(instanceOf)).size;
    return [...groups(known, (row) => row.line)].map(([line, runs]) => ({
      line,
      points: shares(runs.map((row) => timeToTarget(row, target, best.get(problemOf(row)))),
        instances),
    }));
  }

  return { bestValues, context, gap, integral, integrals, meanIntegrals, states, timeToTarget,
    timesToTarget };
})();
