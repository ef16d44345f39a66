/* What is computed of rows: the same definitions as in the Python package `milp_trees.studies.measures`.

   Nothing here touches the page. A row is an object with the columns of `Study.frame()`, and `line`
   and `allowed` (see `prepare`). */
"use strict";
M.measures = (() => {
  // Times below this (seconds) are set to this in ratios, because differences below it are noise.
  const FLOOR = 0.001;
  // Relative difference of values and bounds that rounding explains: solvers compute in floating
  // point, and call a value optimal that is proven up to their tolerance.
  const ROUNDING = 1e-6;
  const PAR = 10;
  const MODES = {
    limit: "a run that was not solved counts with its time limit",
    par10: "a run that was not solved counts with ten times its time limit",
    intersection: "only instances that every method solved count",
  };

  const mean = (values) => values.reduce((a, b) => a + b, 0) / values.length;
  const isNumber = (v) => typeof v === "number" && Number.isFinite(v);

  // Whether the values of two runs of one problem are the same. Rationals are compared as such, but
  // for the rounding of the numbers that stand for them; other values by what solvers tell apart, and
  // proven ones also by what is left between them and their bounds.
  function sameValue(a, b) {
    const size = Math.max(1, Math.abs(a.objective), Math.abs(b.objective));
    const left = (row) => (row.status === "optimal" && isNumber(row.bound) ? Math.abs(row.objective - row.bound) : 0);
    const whole = Number.isInteger(a.objective) && Number.isInteger(b.objective) && size < 2 ** 52;
    const rounded = whole ? 0 : 1e-9 * size;
    const allowed = a.is_exact && b.is_exact ? rounded : Math.max(ROUNDING * size, left(a), left(b));
    return Math.abs(a.objective - b.objective) <= allowed;
  }

  // Whether a bound (of a value that is minimised) excludes a value, by more than rounding.
  // Whole numbers are compared exactly as far as floats tell them apart.
  const excludes = (bound, value) => Number.isInteger(bound) && Number.isInteger(value) && Math.abs(value) < 2 ** 52
    ? bound > value : bound - value > ROUNDING * Math.max(1, Math.abs(value));

  function groups(rows, key) {
    const out = new Map();
    for (const row of rows) {
      const k = key(row);
      if (!out.has(k)) out.set(k, []);
      out.get(k).push(row);
    }
    return out;
  }

  const problemOf = (row) => JSON.stringify([row.name, row.problem]);
  // An instance is a problem with a seed and a permutation.
  const instanceOf = (row) =>
    JSON.stringify([row.name, row.problem, row.seed ?? 0, row.permutation ?? 0]);

  // Give each row the line of figures and aggregates that it belongs to: its variant, which is the
  // method with its options and its stated start. Further runs of a variant on one instance and
  // machine, such as those under another limit, are in lines of their own. A time limit that was
  // not recorded is the largest one of the problem's runs.
  function prepare(rows) {
    const seen = new Map();
    const limits = new Map([...groups(rows, problemOf)].map(([key, runs]) =>
      [key, Math.max(...runs.map((row) => row.time_limit ?? -Infinity))]));
    for (const row of rows) {
      row.allowed = row.time_limit ?? limits.get(problemOf(row));
      row.line = row.variant;
      if (row.status === "unsupported") continue;
      const key = `${instanceOf(row)} ${row.environment} ${row.variant}`;
      const times = (seen.get(key) ?? 0) + 1;
      seen.set(key, times);
      if (times > 1) row.line = `${row.variant} (${times})`;
    }
  }

  const isSolved = (row) =>
    (row.status === "optimal" || row.status === "infeasible") && row.agrees !== false;

  // Seconds of a run under a time-out mode. Without a limit a run without proof counts with the
  // time that it took.
  function timeOf(row, mode) {
    if (isSolved(row)) return row.seconds;
    const limit = isNumber(row.allowed) ? row.allowed : row.seconds;
    return mode === "par10" ? PAR * limit : limit;
  }

  // The runs as a table: lines, instances, and the run of each pair; unsupported runs are none.
  // With the mode "intersection" only instances are left that all lines proved; lines that proved
  // nothing are left out and named in `without`.
  function table(rows, mode) {
    const runs = rows.filter((row) => row.status !== "unsupported");
    const of = groups(runs, (row) => row.line);
    let lines = [...of.keys()];
    let instances = [...groups(runs, instanceOf).values()].map((found) =>
      ({ row: found[0], runs: new Map(found.map((row) => [row.line, row])) }));
    let without = [];
    if (mode === "intersection") {
      without = lines.filter((line) => !of.get(line).some(isSolved));
      lines = lines.filter((line) => !without.includes(line));
      instances = instances.filter((one) =>
        lines.every((line) => one.runs.has(line) && isSolved(one.runs.get(line))))
        .map((one) => ({ ...one, runs: new Map(lines.map((line) => [line, one.runs.get(line)])) }));
    }
    return { lines, instances, without };
  }

  function shiftedGeometricMean(times, shift = 1) {
    if (!times.length) return null;
    return Math.exp(mean(times.map((t) => Math.log(t + shift)))) - shift;
  }

  // Number of runs, of solved ones, shifted geometric mean and PAR10 of each line.
  function summary(rows, mode, shift = 1) {
    const { lines, instances } = table(rows, mode);
    return lines.map((line) => {
      const runs = instances.flatMap(({ runs }) => runs.get(line) ?? []);
      return {
        line,
        instances: instances.length,
        runs: runs.length,
        solved: runs.filter(isSolved).length,
        errors: runs.filter((row) => row.status === "error").length,
        sgm: shiftedGeometricMean(runs.map((row) => timeOf(row, mode)), shift),
        par10: runs.length ? mean(runs.map((row) => timeOf(row, "par10"))) : null,
      };
    });
  }

  // Per instance the fastest proof (without one, the run with the largest limit), how often each line
  // is the fastest (all of equally fast ones count), and how often no other line proves it.
  function virtualBest(rows, mode) {
    const { lines, instances } = table(rows, mode);
    const wins = new Map(lines.map((line) => [line, 0]));
    const alone = new Map(lines.map((line) => [line, 0]));
    const chosen = instances.map((instance) => {
      const runs = [...instance.runs.values()];
      const solved = runs.filter(isSolved);
      const best = solved.length
        ? solved.reduce((a, b) => (b.seconds < a.seconds ? b : a))
        : runs.reduce((a, b) => (b.allowed > a.allowed ? b : a));
      for (const row of solved) {
        if (row.seconds <= best.seconds) wins.set(row.line, wins.get(row.line) + 1);
      }
      if (solved.length === 1) alone.set(best.line, alone.get(best.line) + 1);
      return { ...instance, row: best, seconds: timeOf(best, mode), solved: solved.length > 0 };
    });
    return { chosen, wins, alone, lines };
  }

  // Dolan and Moré (2002): share of all instances that a line proves within a factor of the
  // fastest proof. Instances without any proof count in the denominator.
  function performanceProfile(rows, mode) {
    const { lines, instances } = table(rows, mode);
    const ratios = new Map(lines.map((line) => [line, []]));
    for (const { runs } of instances) {
      const solved = [...runs.values()].filter(isSolved);
      const fastest = Math.min(...solved.map((row) => Math.max(row.seconds, FLOOR)));
      for (const row of solved) {
        ratios.get(row.line).push({ ratio: Math.max(row.seconds, FLOOR) / fastest, row });
      }
    }
    return lines.map((line) => ({
      line,
      points: shares(ratios.get(line).map(({ ratio }) => ratio), instances.length),
    }));
  }

  // Steps of an empirical distribution: at each value the share of `total` that is not above it.
  function shares(values, total) {
    const sorted = values.filter(Number.isFinite).sort((a, b) => a - b);
    const points = [];
    sorted.forEach((value, i) => {
      if (value !== sorted[i + 1]) points.push({ x: value, share: (i + 1) / total });
    });
    return points;
  }

  // Share of all instances that a line proves within a time.
  function solvedOverTime(rows, mode) {
    const { lines, instances } = table(rows, mode);
    return lines.map((line) => {
      const runs = instances.flatMap(({ runs }) => runs.get(line) ?? []);
      const times = runs.filter(isSolved).map((row) => Math.max(row.seconds, FLOOR));
      return { line, points: shares(times, instances.length) };
    });
  }

  const KINDS_OF_EVIDENCE = ["proved by file", "derived again", "claimed", "recomputed", "contradicted"];
  // How many runs of each line are believed for which reason (column `evidence`).
  function agreement(rows) {
    const runs = rows.filter((row) => row.status !== "unsupported");
    return [...groups(runs, (row) => row.line)].map(([line, found]) => {
      const count = (test) => found.filter(({ evidence }) => test(evidence)).length;
      return { line, ...Object.fromEntries(KINDS_OF_EVIDENCE.map((word) => [word, count((b) => b === word)])),
        "no answer": count((b) => !KINDS_OF_EVIDENCE.includes(b)) };
    });
  }

  return {
    FLOOR, MODES, ROUNDING, agreement, excludes, groups, instanceOf, isNumber, isSolved, mean, performanceProfile,
    prepare, problemOf, sameValue, shares, shiftedGeometricMean, solvedOverTime, summary, table, timeOf, virtualBest,
  };
})();
