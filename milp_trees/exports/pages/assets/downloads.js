/* What can be saved: rows as CSV, a figure as SVG, a table as LaTeX, CSV or Markdown. */
"use strict";
M.downloads = (() => {
  const { el } = M;
  const { save } = page;

  const fileName = (name, ending) =>
    `${`${M.meta.title || "study"}-${name}`.replace(/[^\w.-]+/g, "_").slice(0, 80)}.${ending}`;

  // -- tables as text ----------------------------------------------------------------------------
  const plain = (value) => (value === null || value === undefined ? ""
    : typeof value === "object" ? JSON.stringify(value) : String(value));

  /** RFC 4180: quoted where needed, lines end in CR LF. */
  function csv(heads, lines) {
    const cell = (value) => (/[",\r\n]/.test(plain(value))
      ? `"${plain(value).replaceAll('"', '""')}"` : plain(value));
    return [heads, ...lines].map((line) => `${line.map(cell).join(",")}\r\n`).join("");
  }

  const TEX = { "\\": "\\textbackslash{}", "{": "\\{", "}": "\\}", "$": "\\$", "&": "\\&",
    "#": "\\#", "_": "\\_", "%": "\\%", "~": "\\textasciitilde{}", "^": "\\textasciicircum{}",
    "<": "\\textless{}", ">": "\\textgreater{}", "|": "\\textbar{}", "–": "--", "−": "$-$",
    "×": "$\\times$", "≤": "$\\le$", "≥": "$\\ge$", "λ": "$\\lambda$", "…": "\\dots{}",
    "\u202f": "\\,", "\n": " ", "\r": " ", "[": "{[}", "*": "{*}", '"': "''" };
  const tex = (value) => plain(value).replace(/[\\{}$&#_%~^<>|–−×≤≥λ…\u202f\n\r[*"]/g, (c) => TEX[c]);

  /** A booktabs table; `aligned` says per column whether it holds numbers. */
  function latex(caption, heads, lines, aligned) {
    const line = (cells) => `${cells.map(tex).join(" & ")} \\\\`;
    return ["% needs \\usepackage{booktabs}", "\\begin{table}", `\\caption{${tex(caption)}}`,
      `\\begin{tabular}{${aligned.map((number) => (number ? "r" : "l")).join("")}}`, "\\toprule",
      line(heads), "\\midrule", ...lines.map(line), "\\bottomrule", "\\end{tabular}",
      "\\end{table}", ""].join("\n");
  }

  function markdown(heads, lines, aligned) {
    const cell = (value) => plain(value).replace(/[\r\n]+/g, " ")
      .replace(/[\\|*_`<>[\]]/g, (c) => `\\${c}`);
    const line = (cells) => `| ${cells.join(" | ")} |\n`;
    return line(heads.map(cell)) + line(aligned.map((number) => (number ? "---:" : "---")))
      + lines.map((cells) => line(cells.map(cell))).join("");
  }

  /** All columns of the rows that the filters leave. */
  function rows() {
    const names = Object.keys(M.columns);
    save(csv(names, M.filtered.map((row) => names.map((name) => row[name]))),
      fileName("runs", "csv"), "text/csv");
  }

  // -- figures -----------------------------------------------------------------------------------
  const STYLED = ["fill", "stroke"];

  /** The figure as a file of its own, in the colours of the light page, without the pointer's box. */
  function svgText(svg) {
    const copy = svg.cloneNode(true);
    copy.querySelectorAll('[aria-label="tip"]').forEach((tip) => tip.remove());
    const light = el("div", { class: "light" });
    document.body.append(light);
    const colours = getComputedStyle(light);
    for (const one of [copy, ...copy.querySelectorAll("*")]) {
      one.style.opacity = "";
      for (const name of STYLED) {
        const variable = /^var\((--[\w-]+)\)$/.exec(one.getAttribute(name) ?? "")?.[1];
        if (variable) one.setAttribute(name, colours.getPropertyValue(variable).trim() || "#000");
      }
    }
    light.remove();
    if (copy.dataset.title) {
      const { top } = M.plots.grow(copy, 20, 0);
      d3.select(copy).append("text").attr("x", 2).attr("y", top + 14).attr("font-size", 13)
        .attr("text-anchor", "start").attr("font-weight", "bold").text(copy.dataset.title);
    }
    copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
    copy.setAttribute("color", "#111");
    copy.style.fontFamily = "system-ui, sans-serif";
    copy.style.background = "#fff";
    return `<?xml version="1.0" encoding="UTF-8"?>\n${new XMLSerializer().serializeToString(copy)}\n`;
  }
  const svg = (drawn, id) => save(svgText(drawn), fileName(id, "svg"), "image/svg+xml");

  return { csv, fileName, latex, markdown, rows, save, svg, svgText };
})();
