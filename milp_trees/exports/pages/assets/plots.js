/* What all figures share: the section with its switches and conditions, the look of each line, the
   legend, the size. Figures are SVG made by Observable Plot. */
"use strict";
M.plots = (() => {
  const { MODES, groups } = M.measures;
  const { el } = M;
  const DASHES = [null, "7 3", "2 2.5", "10 3 2 3"];
  const SYMBOLS = ["circle", "square", "triangle", "diamond", "cross", "star", "wye"];
  const COLOURS = 7;

  M.state.declare("mode", "limit", (v) => Object.hasOwn(MODES, v));
  M.state.declare("timed_on", "");
  M.state.declare("shift", 1, (v) => v > 0);
  M.state.declare("scales", [], (v) => v.every((entry) => typeof entry === "string"));

  // -- looks of lines ----------------------------------------------------------------------------
  let known = [];
  M.on("ready", () => {
    const rows = [...M.rows, ...(M.against?.rows ?? [])];
    M.measures.prepare(M.rows);
    M.measures.prepare(M.against?.rows ?? []);
    known = [...new Set(rows.map((row) => row.line))]
      .sort((a, b) => a.localeCompare(b, "en", { numeric: true }));
  });

  /** A line keeps its look whatever is filtered: seven colours that colour-blind readers tell apart,
      then the same with other dashes. */
  function look(line) {
    const i = Math.max(0, known.indexOf(line));
    return {
      colour: `var(--series-${i % COLOURS})`,
      dash: DASHES[Math.floor(i / COLOURS) % DASHES.length],
      symbol: SYMBOLS[Math.floor(i / COLOURS) % SYMBOLS.length],
    };
  }

  /** Options of `Plot.plot` by which marks with `stroke: "line"` get the looks of their lines. */
  function scalesOf(names) {
    return {
      color: { type: "ordinal", domain: names, range: names.map((v) => look(v).colour) },
      symbol: { type: "ordinal", domain: names, range: names.map((v) => look(v).symbol) },
    };
  }

  // -- what a figure shows -----------------------------------------------------------------------
  /** The runs of one machine, because times of different machines are not comparable; unless one
      is chosen, of the machine with the most runs. */
  function oneMachine(rows, wanted = M.state.get("timed_on")) {
    const by = [...groups(rows, (row) => row.environment ?? "")]
      .sort((a, b) => b[1].length - a[1].length);
    const [environment, runs] = by.find(([name]) => name === wanted) ?? by[0] ?? ["", []];
    const named = ([name, found]) => [name,
      `${found[0].machine || "not recorded"} ${name.slice(0, 8)} (${found.length} runs)`];
    return { rows: runs, environment, machines: by.map(named), left: rows.length - runs.length };
  }

  /** What a figure or table of times is made of. */
  function view() {
    return { ...oneMachine(M.filtered), mode: M.state.get("mode"), shift: M.state.get("shift") };
  }

  /** What a figure shows, in words, because numbers without their conditions mislead. `timed` says
      that it is about times, `common` that it compares on common instances only. */
  function conditions({ rows, mode, machines, environment, left }, { timed = true, common = false } = {}) {
    const parts = [`${rows.length} of ${M.rows.length} runs`];
    if (timed) parts.push(`time-out mode ${mode}: ${MODES[mode]}`);
    const { lines, instances, without } = M.measures.table(rows, timed ? mode : "limit");
    if (!common && instances.some((one) => one.runs.size < lines.length)) {
      parts.push("not every method has a run on every instance, so lines are not about the same instances");
    }
    if (without.length) parts.push(`left out because they proved nothing: ${without.join(", ")}`);
    if (machines.length > 1) {
      const [, label] = machines.find(([name]) => name === environment);
      parts.push(`machine ${label} alone; ${left} runs of other machines are left out`);
    }
    return parts.join("; ");
  }

  /** A drop-down whose value is a setting of the view. */
  function choice(name, label, options, { convert = String } = {}) {
    const box = el("select", { "data-state": name, "aria-label": label,
      onchange: () => M.state.set({ [name]: convert(box.value) }) },
    options.map(([value, text]) => el("option",
      { value: String(value), selected: String(value) === String(M.state.get(name)) }, text)));
    return el("label", { class: "choice" }, `${label} `, box);
  }

  /** A drop-down of names, of which the first is taken until one is chosen. */
  const pick = (name, label, options, now) => el("label", { class: "choice" }, `${label} `,
    el("select", { "data-state": name, "aria-label": label,
      onchange: (event) => M.state.set({ [name]: event.target.value }) },
    options.map(([value, text]) => el("option", { value, selected: value === now }, text))));

  /** What figures and tables have in common: the time-out mode, and the machine if there are two. */
  const switches = ({ machines, environment }, timed) => [
    timed ? choice("mode", "time-out mode", Object.keys(MODES).map((m) => [m, m])) : null,
    machines.length > 1 ? pick("timed_on", "machine", machines, environment) : null];

  /** The scale of an axis; `scales` of the view lists the axes that differ from their first scale. */
  function scaleOf(id, axis, first) {
    const other = first === "log" ? "linear" : "log";
    return M.state.get("scales").includes(`${id}.${axis}`) ? other : first;
  }
  function scaleSwitch(id, axis, now) {
    const entry = `${id}.${axis}`;
    return el("button", { type: "button", class: "scale", "data-axis": axis,
      title: `Make the ${axis} axis ${now === "log" ? "linear" : "logarithmic"}`,
      onclick: () => {
        const all = M.state.get("scales");
        M.state.set({ scales: all.includes(entry) ? all.filter((e) => e !== entry)
          : [...all, entry].sort() });
      } }, `${axis}: ${now}`);
  }

  /** A section with one figure. `draw(seen, scales, width)` gives an SVG element, or a sentence that
      says why there is nothing to draw. */
  function figure({ id, title, how, order, draw, scales = {}, timed = true, common = false, more = () => [],
    about = () => "", after = () => [] }) {
    M.section({ id, title, how, order, update(body) {
      const seen = view();
      const now = Object.fromEntries(Object.entries(scales)
        .map(([axis, first]) => [axis, scaleOf(id, axis, first)]));
      const width = Math.max(300, Math.min(body.clientWidth || 720, 960));
      const drawn = seen.rows.length ? draw(seen, now, width) : "No run is left by the filters.";
      const nothing = typeof drawn === "string";
      const bar = el("p", { class: "switches" }, switches(seen, timed), more(seen),
        Object.entries(now).map(([axis, scale]) => scaleSwitch(id, axis, scale)),
        nothing ? null : el("button", { type: "button", class: "save",
          title: "Save this figure", onclick: () => M.downloads.svg(drawn, id) }, "SVG"));
      if (!nothing) head(drawn, title, [about(seen), conditions(seen, { timed, common })].filter(Boolean).join("; "));
      keepFocus(body, () => body.replaceChildren(bar,
        nothing ? el("p", { class: "nothing" }, drawn) : el("div", { class: "plot" }, drawn),
        ...after(seen)));
    } });
  }

  /** Redraw; the control that has the keyboard's focus keeps it. */
  function keepFocus(body, redraw) {
    const at = [...body.querySelectorAll("button, select, input")].indexOf(document.activeElement);
    redraw();
    if (at >= 0) body.querySelectorAll("button, select, input")[at]?.focus({ preventScroll: true });
  }

  // -- parts of a drawing ------------------------------------------------------------------------
  /** Add text above a drawing, in as many lines as it needs; its title is seen in a saved file. */
  function head(svg, title, said) {
    const lines = wrap(said, Math.floor((Number(svg.getAttribute("width")) - 8) / 6.1));
    const top = grow(svg, 14 * lines.length + 6, 0).top;
    // A figure is one picture with one description; labels of its parts are no use to a reader.
    svg.querySelectorAll("g[aria-label]").forEach((part) => part.removeAttribute("aria-label"));
    d3.select(svg).attr("role", "img").attr("aria-label", `${title}. ${said}`)
      .attr("data-title", title).append("text").attr("class", "conditions")
      .attr("fill", "currentColor").attr("text-anchor", "start").attr("font-size", 11)
      .selectAll("tspan").data(lines).join("tspan")
      .attr("x", 2).attr("y", (_, i) => top + 11 + 14 * i).text((line) => line);
    return svg;
  }

  /** Make room above and below what is drawn; gives the new edge above and the old one below. */
  function grow(svg, above, below) {
    const [left, top, width, height] = svg.getAttribute("viewBox").split(" ").map(Number);
    svg.setAttribute("viewBox", [left, top - above, width, height + above + below].join(" "));
    svg.setAttribute("height", height + above + below);
    return { top: top - above, bottom: top + height };
  }

  function wrap(text, width) {
    const lines = [""];
    for (const word of text.split(" ")) {
      const last = lines.length - 1;
      if (lines[last] && lines[last].length + word.length + 1 > width) lines.push(word);
      else lines[last] += (lines[last] ? " " : "") + word;
    }
    return lines;
  }

  const shape = (name) => d3[`symbol${name[0].toUpperCase()}${name.slice(1)}`];

  const clip = (text, length) =>
    text.length <= length ? text : `${text.slice(0, Math.max(1, length - 1))}…`;

  /** A legend below the axes; pointing at an entry dims all other lines. */
  function withLegend(svg, unsorted, { symbols = false } = {}) {
    const names = [...unsorted].sort((a, b) => known.indexOf(a) - known.indexOf(b));
    const width = Number(svg.getAttribute("width"));
    const cell = Math.min(width - 4, 42 + 6.3 * Math.max(...names.map((line) => line.length)));
    const columns = Math.max(1, Math.floor(width / cell));
    const { bottom } = grow(svg, 0, 17 * Math.ceil(names.length / columns) + 8);
    const entries = d3.select(svg).selectAll("g.legend").data(names).join("g")
      .attr("class", "legend").attr("data-series", (line) => line).attr("font-size", 11)
      .attr("text-anchor", "start").attr("transform", (_, i) =>
        `translate(${2 + (i % columns) * cell},${bottom + 8 + 17 * Math.floor(i / columns)})`)
      .on("pointerenter", (_, line) => emphasise(svg, line))
      .on("pointerleave", () => emphasise(svg, null));
    entries.append("rect").attr("width", cell).attr("height", 17).attr("y", -8)
      .attr("fill", "none").attr("pointer-events", "all");
    entries.append("line").attr("x2", 26).attr("stroke-width", 2.5)
      .attr("stroke", (line) => look(line).colour)
      .attr("stroke-dasharray", (line) => (symbols ? null : look(line).dash));
    if (symbols) {
      entries.append("path").attr("transform", "translate(13,0)").attr("fill", "var(--paper)")
        .attr("stroke", (line) => look(line).colour).attr("stroke-width", 1.5)
        .attr("d", (line) => d3.symbol(shape(look(line).symbol), 40)());
    }
    entries.append("text").attr("x", 31).attr("dy", "0.35em").attr("fill", "currentColor")
      .text((line) => clip(line, Math.floor((cell - 33) / 6)));
    entries.append("title").text((line) => line);
    return svg;
  }

  function emphasise(svg, line) {
    for (const one of svg.querySelectorAll("[data-series]")) {
      one.style.opacity = line && one.dataset.series !== line ? 0.15 : "";
    }
  }

  /** Name the paths that Plot drew, so that the legend finds them, and follow the pointer. */
  function nameSeries(svg, names, selector) {
    svg.querySelectorAll(selector).forEach((path, i) => { path.dataset.series = names[i]; });
    svg.addEventListener("input", () => emphasise(svg, svg.value?.line));
  }

  return { choice, clip, conditions, figure, grow, head, keepFocus, look, nameSeries, oneMachine, pick,
    scalesOf, switches, view, withLegend };
})();
