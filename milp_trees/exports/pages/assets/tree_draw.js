/* The drawing of a tree, which can be zoomed and folded, and the table of a rule list. */
"use strict";
T.draw = (() => {
  const { el } = page;
  const { state } = T;
  const WIDTH = 190, HEIGHT = 54, CHARS = 22, MANY = 32;
  const listeners = [];
  const folded = new Set();
  let svg, inside, zoom, down = true, last = null, printing = false;

  const number = (x) => (typeof x !== "number" ? String(x) : Number.isInteger(x) ? String(x).replace(/\B(?=(\d{3})+(?!\d))/g, "\u202f") : String(Number(x.toPrecision(6)))).replace("-", "\u2212");
  const share = (part, all) => (all ? `${Number((100 * part / all).toFixed(1))}\u202f%` : "\u2013");
  const short = (text, most = CHARS) => (text.length <= most ? text : `${text.slice(0, most - 11)}\u2026${text.slice(-10)}`);
  const said = (node) => (node.test ? node.name : `\u2192 ${state.data.labels[node.label]}`);
  const rows = (node) => (node.rows === undefined ? "" : `${number(node.rows)} ${node.rows === 1 ? "row" : "rows"}`);

  /** Rows of a leaf that are of another class, in words; empty if there are none. */
  function errors(node) {
    const n = node.counts ? node.rows - node.counts[node.label] : 0;
    return n ? `${number(n)} ${n === 1 ? "error" : "errors"}` : "";
  }
  /** Parent and answer of every node of a tree. */
  function ups(nodes) {
    const out = nodes.map(() => null);
    nodes.forEach((node, at) => {
      if (node.no !== undefined) { out[node.no] = { at, answer: false }; out[node.yes] = { at, answer: true }; }
    });
    return out;
  }
  function select(at, focus = false) {
    state.selected = at;
    mark();
    listeners.forEach((f) => f(at));
    if (focus) document.querySelector(`[data-node="${at}"]`)?.focus();
  }
  /** Show what is selected and where the row went. */
  function mark() {
    const on = new Set(state.path);
    for (const place of document.querySelectorAll("[data-node], [data-edge]")) {
      const at = Number(place.dataset.node ?? place.dataset.edge);
      place.classList.toggle("selected", place.dataset.node !== undefined && at === state.selected);
      place.classList.toggle("on-path", on.has(at));
    }
    document.getElementById("board").classList.toggle("with-path", on.size > 0);
  }

  // -- rule lists -----------------------------------------------------------------------------------
  function list(place) {
    const { nodes, labels, colours } = state.data;
    const total = nodes.reduce((sum, node) => sum + (node.rows ?? 0), 0);
    const line = (node, at) => el("tr", { "data-node": at, tabindex: 0, class: "rule", onclick: () => select(at), onkeydown: (event) => { if (event.key === "Enter" || event.key === " ") { event.preventDefault(); select(at); } } },
      el("td", { class: "word" }, node.test ? (at ? "else if" : "if") : nodes.length > 1 ? "else" : "always"),
      el("td", {}, node.test ? node.name : ""),
      el("td", {}, el("span", { class: "label", style: `background:${colours[node.label]}` }, labels[node.label])),
      node.rows === undefined ? null : el("td", { class: "number" }, number(node.rows)),
      node.rows === undefined ? null : el("td", { class: "number" }, node.counts ? share(node.counts[node.label], node.rows) : share(node.rows, total)));
    const counted = nodes[0].rows !== undefined;
    const heads = ["", "condition", "then", ...(counted ? ["rows", nodes[0].counts ? "of this class" : "share"] : [])];
    place.append(el("div", { class: "wide" }, el("table", { id: "rules" },
      el("thead", {}, el("tr", {}, heads.map((h, k) => el("th", { scope: "col", class: k > 2 ? "number" : null }, h)))),
      el("tbody", {}, nodes.map(line)))));
  }

  // -- trees ----------------------------------------------------------------------------------------
  const nested = (at) => ({ at, children: folded.has(at) || state.data.nodes[at].no === undefined ? null : [nested(state.data.nodes[at].no), nested(state.data.nodes[at].yes)] });
  const place = (d) => (down ? [d.x, d.y] : [d.y, d.x]);

  function box(g, d) {
    const node = state.data.nodes[d.data.at];
    const leaf = node.no === undefined;
    const colour = leaf ? state.data.colours[node.label] : null;
    g.append("title").text(`${said(node)}${node.rows === undefined ? "" : `, ${rows(node)}`}`);
    g.append("rect").attr("class", "box").attr("width", WIDTH).attr("height", HEIGHT).attr("x", -WIDTH / 2).attr("y", -HEIGHT / 2)
      .attr("rx", leaf ? 14 : 4).style("fill", colour);
    const column = leaf ? "" : node.test[0].column;
    const name = leaf ? state.data.labels[node.label] : node.name;
    const lines = name.length <= CHARS || !column || !name.startsWith(`${column} `) ? [short(name)] : [short(column), short(name.slice(column.length + 1))];
    const foot = [rows(node), leaf ? errors(node) : ""].filter(Boolean).join(", ");
    const total = lines.length + (foot ? 1 : 0);
    [...lines, ...(foot ? [foot] : [])].forEach((text, k) => g.append("text").attr("class", k < lines.length ? "name" : "rows")
      .attr("y", (k - (total - 1) / 2) * 15 + (node.counts ? 0 : 4)).text(text));
    if (node.counts && node.rows) {
      let x = -WIDTH / 2 + 10;
      node.counts.forEach((n, k) => {
        const w = (WIDTH - 20) * n / node.rows;
        if (w) g.append("rect").attr("class", "share").attr("x", x).attr("y", HEIGHT / 2 - 10).attr("width", w).attr("height", 5).style("fill", state.data.colours[k]);
        x += w;
      });
    }
    if (!leaf && folded.has(d.data.at)) g.append("text").attr("class", "more").attr("y", down ? HEIGHT / 2 + 15 : 4).attr("x", down ? 0 : WIDTH / 2 + 14).text("+");
  }
  function drawn() {
    const root = d3.hierarchy(nested(0));
    d3.tree().nodeSize(down ? [WIDTH + 22, HEIGHT + 52] : [HEIGHT + 14, WIDTH + 130]).separation(() => 1)(root);
    const { nodes } = state.data;
    const all = nodes[0].rows || 1;
    inside.selectAll("*").remove();
    for (const { source, target } of root.links()) {
      const [[x, y], [u, v]] = [place(source), place(target)];
      const yes = nodes[source.data.at].yes === target.data.at;
      const [begin, end] = down ? [[x, y + HEIGHT / 2], [u, v - HEIGHT / 2]] : [[x + WIDTH / 2, y], [u - WIDTH / 2, v]];
      const turn = down ? `C${begin[0]} ${begin[1] + 26} ${end[0]} ${end[1] - 26} ${end}` : `C${begin[0] + 34} ${begin[1]} ${end[0] - 34} ${end[1]} ${end}`;
      inside.append("path").attr("class", "edge").attr("data-edge", target.data.at).attr("d", `M${begin}${turn}`)
        .style("stroke-width", 1.5 + 7 * (nodes[target.data.at].rows ?? 0) / all);
      inside.append("text").attr("class", down ? "answer" : "answer beside").attr("x", end[0] - (down ? 0 : 8)).attr("y", end[1] + (down ? -9 : yes ? 15 : -7)).text(nodes[source.data.at].edges[yes ? 1 : 0]);
    }
    for (const d of root.descendants()) {
      const { at } = d.data;
      const branch = nodes[at].no !== undefined;
      const g = inside.append("g").attr("class", branch ? "branch" : "leaf").attr("data-node", at).attr("tabindex", at === state.selected ? 0 : -1)
        .attr("role", "button").attr("transform", `translate(${place(d)})`)
        .attr("aria-label", `${said(nodes[at])}${nodes[at].rows === undefined ? "" : `, ${rows(nodes[at])}`}${branch ? (folded.has(at) ? ", folded" : ", open") : ""}`)
        .on("click", () => select(at)).on("dblclick", (event) => { event.stopPropagation(); fold(at); }).on("keydown", (event) => key(event, at));
      box(g, d);
    }
    last = root;
    mark();
  }
  function extent() {
    const all = last.descendants().map(place);
    const [[left, right], [top, bottom]] = [0, 1].map((k) => d3.extent(all, (p) => p[k]));
    return { x: left - WIDTH / 2 - 24, y: top - HEIGHT / 2 - 16, width: right - left + WIDTH + 48, height: bottom - top + HEIGHT + 40 };
  }
  /** Show the whole drawing, but not smaller than can be read; then its root. */
  function fit() {
    if (printing) return;
    const { x, y, width, height } = extent();
    const wide = svg.node().parentNode.clientWidth;
    const scale = Math.max(0.55, Math.min(1, wide / width));
    const tall = Math.min(Math.max(220, height * scale), Math.max(380, innerHeight * 0.78));
    svg.attr("width", wide).attr("height", tall);
    const root = place(last)[down ? 0 : 1];
    const left = width * scale <= wide ? (wide - width * scale) / 2 - x * scale : down ? wide / 2 - root * scale : -x * scale;
    const top = height * scale <= tall ? (tall - height * scale) / 2 - y * scale : down ? -y * scale : tall / 2 - root * scale;
    svg.call(zoom.transform, d3.zoomIdentity.translate(left, top).scale(scale));
  }
  function fold(at) {
    if (state.data.nodes[at].no === undefined) return;
    if (!folded.delete(at)) folded.add(at);
    drawn();
    document.querySelector(`[data-node="${at}"]`)?.focus();
  }
  /** Arrow keys go to the parent, to a child, or to the sibling; Enter folds. */
  function key(event, at) {
    const up = state.data.ups[at];
    const node = state.data.nodes[at];
    const [toParent, toChild, toNo, toYes] = down ? ["ArrowUp", "ArrowDown", "ArrowLeft", "ArrowRight"] : ["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown"];
    let to = null;
    if (event.key === "Enter" || event.key === " ") { event.preventDefault(); fold(at); return; }
    if (event.key === "Home") to = 0;
    if (event.key === toParent && up) to = up.at;
    if (event.key === toChild && node.no !== undefined && !folded.has(at)) to = node.no;
    if (event.key === toNo && up) to = state.data.nodes[up.at].no;
    if (event.key === toYes && up) to = state.data.nodes[up.at].yes;
    if (to === null) return;
    event.preventDefault();
    select(to, true);
    see(to);
  }
  /** Move the drawing so that a node is inside of the frame. */
  function see(at) {
    const d = last.descendants().find((one) => one.data.at === at);
    if (!d) return;
    const { k, x, y } = d3.zoomTransform(svg.node());
    const [u, v] = place(d);
    const [wide, tall] = [Number(svg.attr("width")), Number(svg.attr("height"))];
    const outside = (p, half, most) => Math.max(0, half - p) - Math.max(0, p + half - most);
    const [dx, dy] = [outside(u * k + x, WIDTH * k / 2 + 8, wide), outside(v * k + y, HEIGHT * k / 2 + 8, tall)];
    if (dx || dy) svg.call(zoom.transform, d3.zoomIdentity.translate(x + dx, y + dy).scale(k));
  }
  /** Fold what is below the first levels of a tree with many leaves. */
  function foldMany() {
    folded.clear();
    const { nodes } = state.data;
    let level = [0];
    let open = 1;
    while (level.length) {
      const branches = level.filter((at) => nodes[at].no !== undefined);
      if (open + branches.length > MANY) { branches.forEach((at) => folded.add(at)); return; }
      open += branches.length;
      level = branches.flatMap((at) => [nodes[at].no, nodes[at].yes]);
    }
  }
  function tree(body) {
    const { nodes } = state.data;
    const leaves = nodes.filter((node) => node.no === undefined).length;
    down = 0.75 * leaves * (WIDTH + 22) <= body.clientWidth;
    const button = (text, does, title) => el("button", { type: "button", title, onclick: does }, text);
    const by = (factor) => () => svg.transition().duration(0).call(zoom.scaleBy, factor);
    body.append(el("div", { class: "tools" },
      button("+", by(1.3), "Larger"), button("\u2212", by(1 / 1.3), "Smaller"), button("Fit", fit, "Show the whole drawing"),
      leaves > 1 ? button("Unfold all", () => { folded.clear(); drawn(); fit(); }) : null,
      leaves > 2 ? button("Fold", () => { nodes.forEach((node, at) => { if (at && node.no !== undefined) folded.add(at); }); drawn(); fit(); }, "Fold all but the root") : null,
      leaves > 1 ? button("Turn", () => { down = !down; drawn(); fit(); }, "Grow downwards or to the right") : null,
      el("span", { class: "soft" }, "Click a node for its rows; Enter or a double click folds it; arrow keys walk; drag, or Ctrl and the wheel, move and zoom.")));
    const frame = el("div", { class: "frame" });
    body.append(frame);
    svg = d3.select(frame).append("svg").attr("role", "group").attr("aria-label", "Drawing of the tree");
    inside = svg.append("g");
    zoom = d3.zoom().scaleExtent([0.1, 3]).filter((event) => (event.type === "wheel" ? event.ctrlKey : event.type !== "dblclick" && !event.button))
      .on("zoom", ({ transform }) => inside.attr("transform", transform));
    svg.call(zoom);
    foldMany();
    drawn();
    fit();
    addEventListener("resize", () => { if (frame.clientWidth !== Number(svg.attr("width"))) fit(); });
    addEventListener("beforeprint", () => {
      const { x, y, width, height } = extent();
      printing = true;
      inside.attr("transform", null);
      svg.attr("viewBox", [x, y, width, height]).attr("width", width).attr("height", height);
    });
    addEventListener("afterprint", () => { printing = false; svg.attr("viewBox", null); fit(); });
  }
  /** Highlight the nodes of a path, which are unfolded. */
  function path(nodes) {
    state.path = nodes;
    if (state.data.kind === "tree") {
      const before = folded.size;
      nodes.slice(0, -1).forEach((at) => folded.delete(at));
      if (folded.size !== before) { drawn(); fit(); }
    }
    mark();
    if (nodes.length) {
      select(nodes.at(-1));
      if (state.data.kind === "tree") see(nodes.at(-1));
    }
  }
  function start() {
    const { data } = state;
    data.ups = data.kind === "tree" ? ups(data.nodes) : data.nodes.map((_, at) => (at ? { at: at - 1, answer: false } : null));
    (data.kind === "tree" ? tree : list)(document.querySelector("#model .body"));
  }
  return { start, select, path, number, share, said, rows, on: (f) => listeners.push(f) };
})();
