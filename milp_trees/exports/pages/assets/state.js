/* The state that all parts of the page share: rows, filters, and the view in the address's fragment.

   `M.rows` are all runs, `M.filtered` those that the filters leave. A part states its own settings with
   `M.state.declare(name, initial)`; what differs from the initial value stands in the fragment, so that
   a link shows the same view. Text of a study is untrusted: it becomes text nodes only (`M.el`). */
"use strict";
const M = (() => {
  const { el, unpack, dark } = page;
  const listeners = new Map();
  const sections = [];
  const initial = new Map();
  let values = new Map();

  const on = (event, f) => {
    listeners.set(event, [...(listeners.get(event) || []), f]);
  };
  const emit = (event, ...details) => (listeners.get(event) || []).forEach((f) => f(...details));

  // -- settings in the fragment -----------------------------------------------------------------
  const same = (a, b) => JSON.stringify(a) === JSON.stringify(b);
  const kind = (value) => (Array.isArray(value) ? "array" : value === null ? "any" : typeof value);

  /** A setting that a link carries. `valid` refuses values from a fragment that cannot be used; `place`
      is the section that alone shows the setting ("" for the window), if it is one. */
  function declare(name, value, valid = () => true, place = null) {
    initial.set(name, { value, valid, place });
  }
  function get(name) {
    if (!initial.has(name)) throw new Error(`state: ${name} was not declared`);
    return values.has(name) ? values.get(name) : initial.get(name).value;
  }
  function put(name, value) {
    if (same(value, initial.get(name).value)) values.delete(name);
    else values.set(name, value);
  }
  /** Change settings: one new fragment and one event "change" with the names that differ. */
  function set(changes, { push = false } = {}) {
    const changed = new Set();
    for (const [name, value] of Object.entries(changes)) {
      if (same(get(name), value)) continue;
      put(name, value);
      changed.add(name);
    }
    if (!changed.size) return;
    const address = fragment() || location.pathname + location.search;
    try {
      history[push ? "pushState" : "replaceState"](null, "", address);
    } catch { /* a page inside of another page may not change its address; the view changes all the same */ }
    tell(changed);
  }
  const fragment = () => {
    const parts = [...values].map(([k, v]) => `${encodeURIComponent(k)}=${encodeURIComponent(typeof v === "string" ? v : `~${JSON.stringify(v)}`)}`);
    return parts.length ? `#${parts.join("&")}` : "";
  };
  /** Settings of the fragment; unknown ones and those of another kind are ignored. */
  function read() {
    const found = new Map();
    for (const part of location.hash.slice(1).split("&")) {
      try {
        const at = part.indexOf("=");
        const [name, text] = [part.slice(0, at), part.slice(at + 1)].map(decodeURIComponent);
        const known = initial.get(name);
        const value = text.startsWith("~") ? JSON.parse(text.slice(1)) : text;
        const fits = known && (kind(known.value) === "any" || kind(known.value) === kind(value));
        if (at > 0 && fits && known.valid(value) && !same(value, known.value)) found.set(name, value);
      } catch { /* a part that cannot be read is ignored */ }
    }
    return found;
  }
  function tell(changed) {
    M.refilter(changed);
    emit("change", changed);
    const places = [...changed].map((name) => initial.get(name).place);
    update(false, places.includes(null) ? undefined : (one) => places.includes(one.id));
  }
  function followFragment() {
    const before = values;
    values = read();
    const names = new Set([...before.keys(), ...values.keys()].filter((n) => !same(before.get(n), values.get(n))));
    if (names.size) tell(names);
  }

  // -- sections ---------------------------------------------------------------------------------
  /** A part of the page: `draw` makes it once, `update` after changes while it is near the screen. */
  function section({ id, title, how = "", order = 50, draw = () => {}, update: refresh = () => {} }) {
    sections.push({ id, title, how, order, draw, refresh, stale: true, near: false, body: null });
  }
  function place(main, contents) {
    sections.sort((a, b) => a.order - b.order);
    const watch = new IntersectionObserver((entries) => {
      for (const entry of entries) {
        const one = sections.find((s) => s.id === entry.target.id);
        one.near = entry.isIntersecting;
        if (one.near && one.stale) refresh(one);
      }
    }, { rootMargin: "600px 0px" });
    for (const one of sections) {
      one.body = el("div", { class: "body" });
      const how = one.how ? el("p", { class: "how" }, one.how) : null;
      const whole = el("section", { id: one.id, "aria-labelledby": `${one.id}-title` }, el("h2", { id: `${one.id}-title` }, one.title), how, one.body);
      main.append(whole);
      contents.append(el("li", {}, el("button", { type: "button", class: "link", onclick: () => goTo(whole) }, one.title)));
      one.draw(one.body);
      watch.observe(whole);
    }
  }
  function goTo(element) {
    element.scrollIntoView({ behavior: matchMedia("(prefers-reduced-motion: reduce)").matches ? "auto" : "smooth" });
    const heading = element.querySelector("h2");
    heading.tabIndex = -1;
    heading.focus({ preventScroll: true });
  }
  function refresh(one) {
    one.stale = false;
    one.refresh(one.body);
  }
  /** Redraw what is near the screen; the rest is redrawn when it comes near, or before printing. */
  function update(all = false, concerns = () => true) {
    for (const one of sections.filter(concerns)) {
      one.stale = true;
      if (one.near || all) refresh(one);
    }
  }

  // -- start ------------------------------------------------------------------------------------
  /** Rows as objects from columns; a column of equal values is stored once. */
  function rowsOf(packed) {
    const rows = Array.from({ length: packed.count }, (_, index) => ({ index }));
    for (const [name, column] of Object.entries(packed.columns)) {
      const value = "all" in column ? () => column.all
        : "of" in column ? (i) => (column.at[i] < 0 ? null : column.of[column.at[i]])
          : (i) => column.each[i];
      rows.forEach((row, i) => { row[name] = value(i); });
    }
    return rows;
  }
  function study(packed) {
    return { rows: rowsOf(packed.rows), meta: packed.meta, columns: packed.column_texts, details: packed.details, problems: packed.problems };
  }
  /** Decode the page's data and draw it; an error is said on the page. */
  const start = () => page.guarded(begin);
  async function begin() {
    document.getElementById("skip").addEventListener("click", (event) => { event.preventDefault(); document.querySelector("main").focus(); });
    document.getElementById("panel").open = innerWidth > 900;
    await page.libraries();
    const packed = JSON.parse(await unpack("study"));
    Object.assign(M, study(packed));
    M.against = packed.against ? study(packed.against) : null;
    emit("ready");
    values = read();
    M.refilter(new Set(initial.keys()));
    place(document.getElementById("sections"), document.getElementById("contents"));
    page.themes(() => { emit("theme"); update(); });
    document.documentElement.classList.add("ready");
    addEventListener("hashchange", followFragment);
    addEventListener("popstate", followFragment);
    const printing = (now) => () => { M.printing = now; update(true); };
    addEventListener("beforeprint", printing(true));
    addEventListener("afterprint", printing(false));
    emit("change", new Set(initial.keys()));
    update();
  }

  return {
    rows: [], filtered: [], columns: {}, meta: {}, details: {}, problems: {}, against: null, printing: false,
    on, emit, el, section, update, start, goTo, unpack, dark,
    state: { declare, get, set, fragment },
    refilter: () => { M.filtered = M.rows; },
  };
})();
