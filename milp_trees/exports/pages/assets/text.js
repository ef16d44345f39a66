/* How values are written: numbers, seconds, flags, and a missing value. */
"use strict";
M.text = (() => {
  const THIN = "\u202f";
  const thousands = (digits) => digits.replace(/\B(?=(\d{3})+(?!\d))/g, THIN);

  /** A number with at most six digits that count; whole numbers in full. */
  function number(x) {
    if (x === null || x === undefined || Number.isNaN(x)) return "–";
    if (typeof x !== "number") return String(x);
    if (Number.isInteger(x) && Math.abs(x) < 1e15) return (x < 0 ? "−" : "") + thousands(String(Math.abs(x)));
    return String(Number(x.toPrecision(6))).replace("-", "−");
  }
  function seconds(x) {
    if (x === null || x === undefined) return "–";
    if (x < 0.0995) return `${Number((1000 * x).toPrecision(2))}${THIN}ms`;
    return x < 100 ? `${Number(x.toPrecision(3))}${THIN}s` : `${thousands(String(Math.round(x)))}${THIN}s`;
  }
  const share = (x) => (x === null || x === undefined ? "–" : x > 0 && x < 0.001 ? `<0.1${THIN}%` : `${Number((100 * x).toFixed(1))}${THIN}%`);
  const flag = (x) => (x === true ? "yes" : x === false ? "NO" : "–");
  const count = (n, noun, plural = `${noun}s`) => `${number(n)} ${n === 1 ? noun : plural}`;

  /** A cell of a column of `M.columns`. */
  function cell(name, x) {
    if (x === null || x === undefined || x === "") return "–";
    if (typeof x === "boolean") return flag(x);
    if (Array.isArray(x) || typeof x === "object") return plain(x);
    if (typeof x !== "number") return String(x);
    if (name === "gap" || name === "root_gap" || name === "gap_to_best") return share(x);
    return (M.columns[name] || {}).kind === "seconds" ? seconds(x) : number(x);
  }
  /** Nested values as short text: `a: 1, b: 2`. */
  function plain(x) {
    if (x === null || x === undefined) return "–";
    if (Array.isArray(x)) return x.map(plain).join(", ") || "–";
    if (typeof x === "object") return Object.entries(x).map(([k, v]) => `${k.replaceAll("_", " ")}: ${plain(v)}`).join(", ") || "–";
    return typeof x === "number" ? number(x) : typeof x === "boolean" ? (x ? "yes" : "no") : String(x);
  }
  /** A name that may be broken after each "/" and comma of it. */
  const breakable = (name) => name.split(/(?<=[/,])/).flatMap((part, k) => (k ? [M.el("wbr"), part] : [part]));
  const title = (name) => (M.columns[name] || {}).title || name.replaceAll("_", " ");
  return { number, seconds, share, flag, count, cell, plain, breakable, title };
})();
