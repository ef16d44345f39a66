/* The way of a row through the model, by the same rules as in Python. */
"use strict";
const T = (() => {
  const state = { data: null, path: [], selected: 0 };

  // -- values -------------------------------------------------------------------------------------
  const NUMBER = /^[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?$/;
  const DATE = /^(\d{4})-(\d\d)-(\d\d)([T ](\d\d):(\d\d)(:(\d\d)(\.\d+)?)?)?$/;
  const MISSING = /^(nan|na|n\/a|null|none|nat)?$/i;

  /** Milliseconds of a date text, read as universal time; NaN if it is none. */
  function time(text) {
    const found = DATE.exec(text);
    if (!found) return NaN;
    const [, year, month, day, , hour = "00", minute = "00", , second = "00", rest = ""] = found;
    return Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`) + 1000 * Number(rest || 0);
  }
  /** The value of a text in a column, null if it is missing. An error says what is wrong. */
  function read(column, text) {
    const given = column.holds === "text" ? text : text.trim();
    if (given === "" || (column.holds !== "text" && MISSING.test(given))) {
      if (column.may_be_missing) return null;
      throw new Error(`${column.name} has no value; the model needs one`);
    }
    if (column.order && !column.order.includes(given)) throw new Error(`${column.name} is one of ${column.order.join(", ")}`);
    if (column.holds === "text" || column.holds === "anything") return given;
    if (column.holds === "date") {
      if (Number.isNaN(time(given))) throw new Error(`${column.name} needs a date such as 2021-03-05`);
      return given;
    }
    if (column.holds === "yes-no" && /^(true|false)$/i.test(given)) return Number(given.toLowerCase() === "true");
    const number = NUMBER.test(given) ? Number(given) : NaN;
    if (!Number.isFinite(number)) throw new Error(`${column.name} needs a number; got ${given}`);
    if (column.holds === "yes-no" && number !== 0 && number !== 1) throw new Error(`${column.name} must be 0 or 1`);
    return number;
  }
  /** Whether a question with its wanted answer holds for a value. */
  function holds(question, value) {
    let answer;
    if (question.kind === "missing") answer = value === null;
    else if (value === null) answer = question.missing === "yes";
    else if (question.kind === "in") answer = question.value.includes(value);
    else if (question.kind === "<=") answer = typeof question.value === "string" ? time(value) <= time(question.value) : value <= question.value;
    else answer = question.kind === "==" ? value === question.value : value === 1;
    return answer === question.holds;
  }

  // -- ways ---------------------------------------------------------------------------------------
  /** The steps of a row, given as texts by column: nodes with their answers, and the label. */
  function walk(texts) {
    const values = new Map(state.data.columns.map((c) => [c.name, read(c, texts.get(c.name) ?? "")]));
    const { nodes, kind } = state.data;
    const asked = (node) => node.test.every((q) => holds(q, values.get(q.column)));
    const steps = [];
    let at = 0;
    while (nodes[at].test) {
      const answer = asked(nodes[at]);
      steps.push({ at, answer });
      if (kind === "list" && answer) return { steps, end: at, label: nodes[at].label };
      at = kind === "list" ? at + 1 : answer ? nodes[at].yes : nodes[at].no;
    }
    return { steps, end: at, label: nodes[at].label };
  }

  /** Cells of a line of CSV; quotes are doubled inside quotes. Null if a quote is not closed. */
  function cells(line, separator) {
    const out = [];
    const cell = new RegExp(`\\s*"((?:[^"]|"")*)"\\s*(${separator}|$)|([^"${separator}][^${separator}]*|)(${separator}|$)`, "y");
    for (;;) {
      const found = cell.exec(line);
      if (!found) return null;
      out.push(found[1] === undefined ? found[3].trim() : found[1].replaceAll('""', '"'));
      if (!(found[2] || found[4])) return out;
    }
  }
  /** Names and cells of pasted lines for a separator; null if they do not fit the columns. */
  function fitting(lines, separator) {
    const rows = lines.map((line) => cells(line, separator));
    if (rows.includes(null)) return null;
    const { columns, order } = state.data;
    const own = columns.map((c) => c.name);
    if (rows.length > 1 && own.every((name) => rows[0].includes(name))) return [rows[0], rows[1]];
    const names = [order, own].find((n) => n.length === rows[0].length);
    return names ? [names, rows[0]] : null;
  }
  /** Texts by column of a pasted row: a line in the order of the table, or a line below its header. */
  function pasted(text) {
    const lines = text.split(/\r?\n/).filter((line) => line.trim());
    if (!lines.length) throw new Error("paste a line first");
    const found = [",", ";", "\t"].map((separator) => fitting(lines, separator)).find((one) => one);
    const { columns, order } = state.data;
    if (!found) throw new Error(`the line does not have ${[...new Set([columns.length, order.length])].join(" or ")} cells (${order.join(", ").slice(0, 300)}), nor a header above it`);
    const [names, row] = found;
    return new Map(names.map((name, j) => [name, row[j] ?? ""]));
  }

  return { state, read, walk, pasted, time };
})();
