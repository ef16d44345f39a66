/* Pairwise ratios with intervals, Wilcoxon's test and critical differences; definitions as in the
   Python package `milp_trees.studies.measures`. */
"use strict";
M.statistics = (() => {
  const { groups, isSolved, mean, problemOf, shiftedGeometricMean, table, timeOf } = M.measures;

  // A small generator with a seed (mulberry32), so that an interval is the same at each visit.
  function generator(seed) {
    let state = seed >>> 0;
    return () => {
      state = (state + 0x6d2b79f5) >>> 0;
      let t = Math.imul(state ^ (state >>> 15), state | 1);
      t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
      return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
    };
  }

  function quantile(sorted, q) {
    const at = q * (sorted.length - 1);
    const low = Math.floor(at);
    const high = Math.min(low + 1, sorted.length - 1);
    return sorted[low] + (at - low) * (sorted[high] - sorted[low]);
  }

  // Percentile bootstrap of a mean.
  function interval(values, resamples = 2000, seed = 0, level = 0.95) {
    if (values.length < 2) return [null, null];
    const random = generator(seed);
    const means = [];
    for (let i = 0; i < resamples; i++) {
      let total = 0;
      for (let k = 0; k < values.length; k++) {
        total += values[Math.floor(random() * values.length)];
      }
      means.push(total / values.length);
    }
    means.sort((a, b) => a - b);
    return [quantile(means, (1 - level) / 2), quantile(means, (1 + level) / 2)];
  }

  // Geometric mean of (time + shift) / (time of the base + shift): per problem the mean of the
  // logarithms over the instances that both have (seeds are no independent cases), then over
  // problems. The test is over data sets.
  function pairwiseRatios(rows, base, mode, shift = 1, seed = 0) {
    const { lines, instances } = table(rows, mode);
    const compared = lines.filter((line) => line !== base).map((line) => {
      const logs = instances.filter(({ runs }) => runs.has(line) && runs.has(base))
        .map(({ row, runs }) => ({ row, value: Math.log(
          (timeOf(runs.get(line), mode) + shift) / (timeOf(runs.get(base), mode) + shift)) }));
      const means = (key) => [...groups(logs, ({ row }) => key(row)).values()]
        .map((same) => mean(same.map(({ value }) => value)));
      const problems = means(problemOf);
      const [low, high] = interval(problems, 2000, seed);
      return {
        line, instances: logs.length, problems: problems.length,
        ratio: problems.length ? Math.exp(mean(problems)) : null,
        low: low === null ? null : Math.exp(low), high: high === null ? null : Math.exp(high),
        faster: logs.filter(({ value }) => value < 0).length,
        slower: logs.filter(({ value }) => value > 0).length,
        p: problems.length ? wilcoxon(means((row) => row.data ?? "")) : null,
      };
    });
    const adjusted = holm(compared.map(({ p }) => p));
    return compared.map((one, i) => ({ ...one, holm: adjusted[i] }));
  }

  // p-values adjusted for the number of tests (Holm 1979); null stays null.
  function holm(values) {
    const order = values.map((p, i) => [p, i]).filter(([p]) => p !== null)
      .sort((a, b) => a[0] - b[0]);
    const out = values.map(() => null);
    let largest = 0;
    order.forEach(([p, i], k) => {
      largest = Math.max(largest, Math.min(1, p * (order.length - k)));
      out[i] = largest;
    });
    return out;
  }

  // Ranks from 1; equal values get the mean of their ranks.
  function ranks(values) {
    const order = values.map((_, i) => i).sort((a, b) => values[a] - values[b]);
    const out = new Array(values.length);
    for (let i = 0; i < order.length;) {
      let j = i;
      while (j < order.length && values[order[j]] === values[order[i]]) j++;
      for (let k = i; k < j; k++) out[order[k]] = (i + 1 + j) / 2;
      i = j;
    }
    return out;
  }

  const ties = (values) => [...groups(values, (v) => v).values()].map((same) => same.length);

  // Two-sided p-value of the signed-rank test. Zeros are dropped; 1 if nothing is left. As in
  // SciPy it is exact up to 50 differences, if any are equal or zero up to 13, else approximate.
  function wilcoxon(differences) {
    const d = differences.filter((v) => v !== 0);
    const n = d.length;
    if (!n) return 1;
    const rank = ranks(d.map(Math.abs));
    const plus = rank.reduce((total, r, i) => total + (d[i] > 0 ? r : 0), 0);
    const tied = ties(rank);
    const unlike = tied.length === n && n === differences.length;
    if (differences.length <= (unlike ? 50 : 13)) return exactSignedRank(rank, plus);
    const correction = tied.reduce((total, t) => total + t ** 3 - t, 0);
    const deviation = Math.sqrt((n * (n + 1) * (2 * n + 1) - correction / 2) / 24);
    return 2 * normalTail(Math.abs((plus - (n * (n + 1)) / 4) / deviation));
  }

  // Over all signs of the ranks; twice a rank is a whole number.
  function exactSignedRank(rank, plus) {
    let counts = [1];
    for (const r of rank) {
      const step = 2 * r;
      const next = new Array(counts.length + step).fill(0);
      counts.forEach((c, s) => {
        next[s] += c / 2;
        next[s + step] += c / 2;
      });
      counts = next;
    }
    const at = Math.round(2 * plus);
    const below = counts.slice(0, at + 1).reduce((a, b) => a + b, 0);
    const above = counts.slice(at).reduce((a, b) => a + b, 0);
    return Math.min(1, 2 * Math.min(below, above));
  }

  // P(Z > x) for x ≥ 0 of the standard normal distribution.
  function normalTail(x) {
    if (x < 0) return 1 - normalTail(-x);
    const density = Math.exp((-x * x) / 2) / Math.sqrt(2 * Math.PI);
    if (x < 3) {
      let term = x;
      let total = x;
      for (let k = 1; Math.abs(term) > 1e-17 * total; k++) {
        term *= (x * x) / (2 * k + 1);
        total += term;
      }
      return 0.5 - density * total;
    }
    let fraction = x;
    for (let k = 60; k >= 1; k--) fraction = x + k / fraction;
    return density / fraction;
  }

  // P(X > x) of the chi-square distribution.
  function chiSquareTail(x, degrees) {
    const half = x / 2;
    const odd = degrees % 2;
    let tail = odd ? 2 * normalTail(Math.sqrt(x)) : Math.exp(-half);
    let term = odd ? Math.sqrt(half) * Math.exp(-half) / (Math.sqrt(Math.PI) / 2)
      : half * Math.exp(-half);
    for (let a = odd ? 0.5 : 1; a + 1 <= degrees / 2 + 1e-9; a++) {
      tail += term;
      term *= half / (a + 1);
    }
    return Math.min(1, tail);
  }

  // Upper 5 % point of the range of k standard normal variables, divided by √2 (Demšar 2006).
  function nemenyi(k, level = 0.05) {
    const covered = (q) => {
      let total = 0;
      const step = 0.02;
      for (let z = -8; z <= 8; z += step) {
        const inside = normalTail(z - q) - normalTail(z);
        total += Math.exp((-z * z) / 2) * inside ** (k - 1);
      }
      return (k * total * step) / Math.sqrt(2 * Math.PI);
    };
    let [low, high] = [0, 20];
    for (let i = 0; i < 50; i++) {
      const q = (low + high) / 2;
      if (covered(q) < 1 - level) low = q; else high = q;
    }
    return low / Math.SQRT2;
  }

  // Mean ranks of the lines over data sets (by the mean of log(time + shift) over instances),
  // Friedman's test, and the difference of mean ranks that is significant at 5 %. Only data sets on
  // which every line has a run count.
  function criticalDifference(rows, mode, shift = 1) {
    const { lines, instances } = table(rows, mode);
    const scores = [...groups(instances, ({ row }) => row.data ?? "").values()].map((found) =>
      lines.map((line) => {
        const times = found.flatMap(({ runs }) =>
          (runs.has(line) ? [timeOf(runs.get(line), mode)] : []));
        return times.length ? mean(times.map((t) => Math.log(t + shift))) : null;
      })).filter((times) => !times.includes(null));
    const [k, n] = [lines.length, scores.length];
    if (k < 2 || n < 2) return { lines, sets: n, ranks: null };
    const ranked = scores.map((times) => ranks(times.map((t) => Math.round(t * 1e12) / 1e12)));
    const average = lines.map((_, i) => mean(ranked.map((r) => r[i])));
    const difference = nemenyi(k) * Math.sqrt((k * (k + 1)) / (6 * n));
    return { lines, sets: n, ranks: average, difference, p: friedman(scores, average),
      groups: together(average, difference) };
  }

  // P-value of Friedman's test with its correction for ties; it needs three lines.
  function friedman(scores, average) {
    const [k, n] = [average.length, scores.length];
    if (k < 3) return null;
    const spread = average.reduce((total, r) => total + (r - (k + 1) / 2) ** 2, 0);
    const tied = scores.flatMap(ties).reduce((total, t) => total + t ** 3 - t, 0);
    const chi = ((12 * n) / (k * (k + 1))) * spread / (1 - tied / (n * (k ** 3 - k)));
    return Number.isFinite(chi) ? chiSquareTail(chi, k - 1) : 1;
  }

  // Largest groups of lines whose mean ranks differ by less than the critical difference.
  function together(average, difference) {
    const sorted = [...average].sort((a, b) => a - b);
    const found = sorted.map((low) =>
      [low, sorted.findLast((high) => high - low < difference)]);
    return found.filter(([low, high], i) => low < high && !(i && found[i - 1][1] === high)
      && found.findIndex((other) => other[0] <= low && other[1] >= high) === i);
  }

  // Times of each line on each problem over its seeds and permutations, where it has two runs that
  // count: a difference between two methods that is smaller than this says nothing.
  function variability(rows, mode, shift = 1) {
    const { instances } = table(rows, mode);
    const runs = instances.flatMap((one) => [...one.runs.values()]);
    return [...groups(runs, (row) => JSON.stringify([row.name, row.line])).values()]
      .filter((found) => found.length > 1)
      .map((found) => {
        const times = found.map((row) => timeOf(row, mode));
        const [least, most, middle] = [Math.min(...times), Math.max(...times), mean(times)];
        const spread = Math.sqrt(times.reduce((total, t) => total + (t - middle) ** 2, 0)
          / (times.length - 1));
        return { name: found[0].name, line: found[0].line, runs: found.length,
          solved: found.filter(isSolved).length, mean: shiftedGeometricMean(times, shift),
          least, most, ratio: (most + shift) / (least + shift),
          score: middle ? spread / middle : 0 };
      });
  }

  return { criticalDifference, holm, interval, nemenyi, pairwiseRatios, quantile, ranks, variability,
    wilcoxon, chiSquareTail, normalTail };
})();
