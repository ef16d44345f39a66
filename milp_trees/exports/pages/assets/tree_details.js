/* Beside the drawing: one node with its rows and other splits; the form for a row; the start. */
"use strict";
T.details = (() => {
  const { el } = page;
  const { state } = T;
  const { number, share } = T.draw;

  // -- one node -------------------------------------------------------------------------------------
  /** What holds for the rows that answer the question of a node in one way. */
  const condition = (node, answer) => (answer ? node.name : state.data.kind === "list" || node.test.length > 1 ? `not (${node.name})` : node.test[0].negation);
  function conditions(at) {
    const { nodes, ups, kind } = state.data;
    const out = [];
    for (let up = ups[at]; up; up = ups[up.at]) {
      const node = nodes[up.at];
      out.unshift(condition(node, up.answer));
    }
    if (kind === "list" && nodes[at].test) out.push(nodes[at].name);
    return out;
  }
  function counts(node) {
    const { labels, colours } = state.data;
    if (!node.counts) return [];
    const lines = labels.map((label, k) => [label, node.counts[k], k]).filter(([, n, k]) => n || k === node.label).sort((a, b) => b[1] - a[1]);
    return [el("table", { class: "counts" },
      el("thead", {}, el("tr", {}, el("th", { scope: "col" }, "class"), el("th", { scope: "col", class: "number" }, "rows"), el("th", { scope: "col", class: "number" }, "share"))),
      el("tbody", {}, lines.map(([label, n, k]) => el("tr", {}, el("th", { scope: "row" }, el("span", { class: "label", style: `background:${colours[k]}` }, label)),
        el("td", { class: "number" }, number(n)), el("td", { class: "number" }, share(n, node.rows))))))];
  }
  function others(at) {
    const { alternatives, unit, why_none } = state.data;
    if (state.data.nodes[at].no === undefined || state.data.kind === "list") return [];
    if (why_none) return [el("p", { class: "soft" }, why_none)];
    const found = alternatives[at];
    const head = el("h3", {}, "Other splits here");
    if (!found) return [head, el("p", { class: "soft" }, state.data.none_in_time)];
    const better = (worse) => (worse === null ? "" : worse > 0 ? `${number(worse)} worse` : worse < 0 ? `${number(-worse)} better` : "equal");
    const line = ({ tests, equal, value, worse, current }) => el("tr", { class: current ? "current" : null },
      el("th", { scope: "row" }, tests.length ? tests[0] : "no split: a leaf", current ? el("span", { class: "soft" }, " (this tree)") : null,
        equal ? el("details", {}, el("summary", {}, `${number(equal)} more with the same rows on each side`),
          el("ul", {}, tests.slice(1).map((name) => el("li", {}, name)), equal >= tests.length ? el("li", {}, "\u2026") : null)) : null),
      el("td", { class: "number" }, number(value)), el("td", { class: "number" }, better(worse)));
    const rest = found.up_to === null ? "These are all ways to divide the rows of this node."
      : found.shortened ? `All others give at least as bad a value as ${number(found.up_to)}.` : `All others give a worse value than ${number(found.up_to)}.`;
    return [head, el("p", { class: "soft" }, state.data.what_others),
      el("div", { class: "wide" }, el("table", { class: "others" },
        el("thead", {}, el("tr", {}, el("th", { scope: "col" }, "split"), el("th", { scope: "col", class: "number" }, unit), el("th", { scope: "col", class: "number" }, "than now"))),
        el("tbody", {}, found.splits.map(line)))), el("p", { class: "soft" }, rest)];
  }
  function show(at) {
    const { nodes, labels, colours, kind } = state.data;
    const node = nodes[at];
    const title = node.test ? node.name : labels[node.label];
    document.getElementById("node-title").textContent = kind === "list" ? (node.test ? `Rule ${at + 1}` : "Default rule") : node.test ? title : `Leaf: ${title}`;
    const where = conditions(at);
    document.querySelector("#node .body").replaceChildren(
      node.label === undefined ? "" : el("p", {}, "predicts ", el("span", { class: "label", style: `background:${colours[node.label]}` }, labels[node.label])),
      where.length ? el("ol", { class: "where" }, where.map((text) => el("li", {}, text))) : el("p", { class: "soft" }, "All rows come here."),
      node.rows === undefined ? "" : el("p", {}, `${T.draw.rows(node)}${at && state.data.total ? ` (${share(node.rows, state.data.total)} of all)` : ""}`),
      ...counts(node), ...others(at));
  }

  // -- the form for a row ----------------------------------------------------------------------------
  const fields = new Map();
  function field(column, k) {
    const id = `value-${k}`;
    const missing = column.may_be_missing ? "empty: missing" : "";
    const told = (event) => { if (event.key === "Enter") go(); };
    const hint = { "yes-no": "0 or 1", date: "e.g. 2021-03-05" }[column.holds] ?? column.example;
    const input = el("input", { id, type: "text", autocomplete: "off", placeholder: [hint, missing].filter(Boolean).join("; "), list: column.choices.length ? `${id}-list` : null, onkeydown: told });
    fields.set(column.name, input);
    return el("div", { class: "field" }, el("label", { for: id }, column.name), input,
      column.choices.length ? el("datalist", { id: `${id}-list` }, column.choices.map((value) => el("option", { value }))) : null);
  }
  function go() {
    const place = document.getElementById("way");
    try {
      const found = T.walk(new Map([...fields].map(([name, input]) => [name, input.value])));
      const { nodes, labels, colours } = state.data;
      T.draw.path([...new Set([...found.steps.map((s) => s.at), found.end])]);
      place.replaceChildren(
        el("p", {}, "This row gets ", el("span", { class: "label", style: `background:${colours[found.label]}` }, labels[found.label]), "."),
        el("ol", {}, found.steps.map(({ at, answer }) => el("li", {}, condition(nodes[at], answer)))));
      place.className = "";
    } catch (error) {
      T.draw.path([]);
      place.replaceChildren(`No prediction: ${error.message}.`);
      place.className = "bad";
    }
  }
  function form() {
    const { columns, order } = state.data;
    const body = document.querySelector("#path .body");
    if (!columns.length) { body.append(el("p", {}, "The model asks for nothing: every row gets the same label.")); return; }
    const line = el("textarea", { id: "line" });
    line.rows = 2;
    line.placeholder = order.join(",").slice(0, 300);
    const paste = () => {
      const place = document.getElementById("way");
      try {
        const found = T.pasted(line.value);
        for (const [name, input] of fields) input.value = found.get(name) ?? "";
        go();
      } catch (error) {
        place.replaceChildren(`${error.message[0].toUpperCase()}${error.message.slice(1)}.`);
        place.className = "bad";
      }
    };
    body.append(
      el("p", { class: "how" }, "Fill in the columns that the model asks for, or paste a line of CSV in the order of the table (or with its header above). Nothing leaves this page."),
      el("div", { class: "fields" }, columns.map(field)),
      el("div", { class: "steps" }, el("button", { type: "button", id: "go", onclick: go }, "Show the path"),
        el("button", { type: "button", onclick: () => { fields.forEach((input) => { input.value = ""; }); document.getElementById("way").replaceChildren(); T.draw.path([]); } }, "Clear")),
      el("div", { class: "paste" }, el("label", { for: "line" }, "CSV line"), line, el("button", { type: "button", id: "paste", onclick: paste }, "Read the line")),
      el("div", { id: "way", role: "status", "aria-live": "polite" }));
  }

  // -- start -------------------------------------------------------------------------------------------
  async function begin() {
    document.getElementById("skip").addEventListener("click", (event) => { event.preventDefault(); document.querySelector("main").focus(); });
    await page.libraries();
    state.data = JSON.parse(await page.unpack("data"));
    page.themes();
    T.draw.on(show);
    T.draw.start();
    form();
    T.draw.select(0);
    const command = document.getElementById("verify");
    command.append(" ", el("button", { type: "button", id: "save", onclick: () => page.save(JSON.stringify(state.data.result, null, 2), "result.json", "application/json") }, "Save result.json"));
    document.documentElement.classList.add("ready");
  }
  return { start: () => page.guarded(begin), show };
})();
