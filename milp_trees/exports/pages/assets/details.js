/* A window for one run: what it answered, who claims it, its model, trace, log and sizes. */
"use strict";
(() => {
  const { el, state, text } = M;
  let dialog, shown = "", details = null;

  state.declare("open", "", (v) => v.length < 300, "");
  /** Run and problem windows are the same element; `open` in the fragment says what it shows. */
  const views = new Map();
  M.view = (kind, draw) => views.set(kind, draw);
  const open = (kind, key) => state.set({ open: `${kind}:${key}` }, { push: true });
  M.openRun = (id) => open("run", id);
  M.openProblem = (key) => open("problem", key);
  const close = () => state.set({ open: "" });

  M.on("ready", () => {
    dialog = el("dialog", { id: "window", "aria-labelledby": "window-title" });
    // the event comes late: by then another window may be open in the same element
    dialog.addEventListener("close", () => { if (!dialog.open) close(); });
    dialog.addEventListener("click", (event) => { if (event.target === dialog) dialog.close(); });
    document.body.append(dialog);
    M.on("change", () => follow());
  });
  async function follow() {
    const wanted = state.get("open");
    if (wanted === shown) return;
    shown = wanted;
    if (!wanted) {
      if (dialog.open) dialog.close();
      return;
    }
    const at = wanted.indexOf(":");
    details = details || JSON.parse(await M.unpack("details"));
    const contents = shown === wanted && views.has(wanted.slice(0, at)) ? views.get(wanted.slice(0, at))(wanted.slice(at + 1)) : null;
    if (shown !== wanted) return;
    if (!contents) {
      close();
      return;
    }
    dialog.replaceChildren(el("button", { type: "button", class: "close", "aria-label": "Close", onclick: () => dialog.close() }, "×"), el("article", {}, contents));
    if (!dialog.open) dialog.showModal();
    dialog.scrollTop = 0;
  }

  // -- parts of a window ----------------------------------------------------------------------------
  /** Names and values as a table; empty values are left out. */
  M.facts = (pairs) => el("table", { class: "facts" }, el("tbody", {}, pairs.filter(([, value]) => value !== null && value !== undefined && value !== "" && value !== "–")
    .map(([name, value]) => el("tr", {}, el("th", { scope: "row" }, name), el("td", {}, value)))));
  const part = (title, contents, open_ = false) => (contents ? el("details", { open: open_ }, el("summary", {}, title), contents) : null);
  M.part = part;

  /** An SVG picture as elements of the page: only shapes and text, no scripts, links or styles. */
  const TAGS = new Set(["svg", "g", "rect", "path", "text", "title"]);
  const DRAWN = new Set(["width", "height", "viewBox", "role", "aria-label", "font-family", "font-size", "rx", "x", "y", "d", "fill", "stroke", "transform", "text-anchor"]);
  function picture(source) {
    const parsed = new DOMParser().parseFromString(source, "image/svg+xml").documentElement;
    const copy = (node) => {
      if (node.nodeType === Node.TEXT_NODE) return document.createTextNode(node.data);
      if (node.nodeType !== Node.ELEMENT_NODE || !TAGS.has(node.localName)) return null;
      const own = document.createElementNS("http://www.w3.org/2000/svg", node.localName);
      for (const { name, value } of node.attributes) if (DRAWN.has(name)) own.setAttribute(name, value);
      own.append(...[...node.childNodes].map(copy).filter(Boolean));
      return own;
    };
    return parsed.localName === "svg" ? copy(parsed) : null;
  }
  M.detail = (row) => details.runs[row.index] || {};
  M.model = (number) => {
    const found = details.predictors[number];
    if (!found) return null;
    const drawn = found.svg ? picture(found.svg) : null;
    return el("div", { class: "model" }, drawn ? el("div", { class: "wide", tabindex: "0", role: "region", "aria-label": "Drawing of the model" }, drawn) : null,
      drawn ? part("The same as text", el("pre", {}, found.text)) : el("pre", {}, found.text));
  };

  // -- the window of a run --------------------------------------------------------------------------
  const EVIDENCE = {
    recomputed: "The value was recomputed from the model on the data; nothing is claimed about the optimum.",
    "proved by file": "A checker accepted the proof file that the run wrote; milp-trees check takes it with the data.",
    "derived again": "The optimum was derived again: another method that shares nothing with this one ended with the same value.",
    claimed: "The bound is claimed by the named program; nothing else confirmed or refuted it.",
    contradicted: "Another method CONTRADICTS this run: two proofs, or a bound and a value, do not fit together.",
  };
  function run(id) {
    const row = M.rows.find((r) => r.id === id);
    if (!row) return null;
    const more = M.detail(row);
    const log = more.log === null || more.log === undefined ? "" : details.logs[more.log];
    const title = `${text.cell("method", row.method)} on ${text.cell("name", row.name)}`;
    return [el("h2", { id: "window-title" }, title), steps(row), answer(row, more), ending(more),
      el("h3", {}, "Model"), more.predictor === null || more.predictor === undefined ? el("p", {}, "This run has no model.") : M.model(more.predictor),
      el("h3", {}, "Over time"), trace(row),
      part("Log", log ? el("pre", { class: "log", tabindex: "0" }, log) : null),
      part("Certificate", M.facts([["exact value", more.exact], ["exact bound", more.bound_exact], ["bound claimed by", row.proved_by], ["derived again by", row.derived_by], ["proof file", row.proof], ["recomputed", (more.checked || []).join("; ") || "nothing"], ["agrees with the reference", text.flag(row.agrees)], ["fingerprint of the run", more.key], ["fingerprint of the problem", more.problem_key]]), true),
      part("Sizes", M.facts(Object.entries(more.sizes || {}).map(([k, v]) => [k.replaceAll("_", " "), text.number(v)]))),
      part("Times", M.facts(Object.entries(more.times || {}).map(([k, v]) => [k.replaceAll("_", " "), text.seconds(v)]))),
      part("How it was run", M.facts([["options", text.plain(more.options)], ["start", text.plain(more.start)], ["started", row.started], ["finished", row.finished], ["machine", row.machine], ["load average", row.load === null || row.load === undefined ? null : text.number(row.load)], ["attempt", row.attempt], ["crashes before", text.plain(row.crashes)], ["versions", text.plain(details.versions[more.versions])]])),
      part("All columns", M.facts(Object.keys(M.columns).map((name) => [text.title(name), text.cell(name, row[name])])))];
  }
  function steps(row) {
    const rows = M.sorted(M.filtered, state.get("sort"));
    const at = rows.indexOf(row);
    const step = (label, to) => el("button", { type: "button", disabled: at < 0 || !rows[to], onclick: () => state.set({ open: `run:${rows[to].id}` }) }, label);
    return el("p", { class: "steps" }, step("‹ Previous", at - 1), step("Next ›", at + 1),
      el("button", { type: "button", onclick: () => M.openProblem(row.problem) }, "The problem"),
      el("span", { class: "count" }, at < 0 ? "not among the filtered runs" : `${text.number(at + 1)} of ${text.number(rows.length)}`));
  }
  function answer(row, more) {
    return M.facts([["status", row.limit ? `${row.status} (stopped by its ${row.limit} limit)` : row.status],
      ["value", row.objective === null ? null : `${text.number(row.objective)} ${row.unit || ""} (${row.sense === "max" ? "higher" : "lower"} is better)`],
      ["bound", row.bound === null ? null : text.number(row.bound)], ["gap", text.share(row.gap)], ["seconds", text.seconds(row.seconds)],
      ["seed", row.seed], ["permutation", row.permutation || null], ["start", more.start && more.start.method ? `${more.start.method}, ${more.start.needed === false ? "not needed: the relaxation is integral" : `accepted by the solver: ${more.start.accepted === true ? "yes" : more.start.accepted === false ? "no" : "unknown"}`}` : null],
      ["scores", text.plain(more.scores)], ["evidence", EVIDENCE[row.evidence]], ["note", row.message]]);
  }
  const ending = (more) => (more.crashes && more.crashes.length ? el("p", { class: "bad" }, `It crashed before: ${text.plain(more.crashes)}`) : null);
  function trace(row) {
    if (!row.trace || !row.trace.length) return el("p", {}, "This run left no trace of incumbents and bounds.");
    const line = ([seconds, incumbent, bound]) => el("tr", {}, el("td", {}, text.seconds(seconds)), el("td", {}, text.number(incumbent)), el("td", {}, text.number(bound)));
    const table = el("div", { class: "wide" }, el("table", {}, el("thead", {}, el("tr", {}, ["time", "incumbent", "bound"].map((head) => el("th", { scope: "col" }, head)))), el("tbody", {}, row.trace.map(line))));
    const plot = M.tracePlot ? M.tracePlot(row) : null;
    return [plot, part(`The ${text.count(row.trace.length, "moment")} as a table`, table, !plot)];
  }
  M.view("run", run);
})();
