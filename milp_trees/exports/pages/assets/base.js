/* What every page needs: elements, packed data, libraries, light and dark, files to save.

   Names and labels are untrusted: they become text nodes only (`page.el`). */
"use strict";
const page = (() => {
  // -- elements ---------------------------------------------------------------------------------
  const ATTRIBUTES = /^(class|id|type|value|name|for|href|title|role|scope|tabindex|min|max|step|open|checked|disabled|placeholder|colspan|selected|hidden|width|height|download|label|multiple|size|list|autocomplete|style|(aria|data)-[\w-]+)$/;

  /** An element; strings among the children become text nodes, so that no text is read as HTML. */
  function el(tag, attributes = {}, ...children) {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes || {})) {
      if (value === null || value === undefined || value === false) continue;
      if (typeof value === "function") element.addEventListener(name.replace(/^on/, ""), value);
      else if (!ATTRIBUTES.test(name)) throw new Error(`el: the attribute ${name} is not allowed`);
      else if (name === "href" && !/^(#|blob:)/.test(value)) throw new Error("el: only links within the page");
      else element.setAttribute(name, value === true ? "" : String(value));
    }
    element.append(...children.flat(3).filter((child) => child !== null && child !== undefined && child !== false));
    return element;
  }

  // -- what the page holds ------------------------------------------------------------------------
  async function unpack(id) {
    const coded = document.getElementById(id).textContent;
    const bytes = Uint8Array.from(atob(coded.trim()), (c) => c.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    return new Response(stream).text();
  }
  /** Run the libraries, which are packed. */
  async function libraries() {
    for (const library of document.querySelectorAll("script[data-library]")) {
      document.head.append(Object.assign(document.createElement("script"), { textContent: await unpack(library.id) }));
    }
  }
  /** Do the page's work; an error is said on the page. */
  async function guarded(begin) {
    try {
      await begin();
    } catch (error) {
      const place = document.getElementById("failed");
      place.hidden = false;
      place.textContent = `The page could not be drawn (${error.message}). It needs a browser of 2023 or later.`;
      throw error;
    }
  }

  // -- light and dark -----------------------------------------------------------------------------
  const root = document.documentElement;
  const system = matchMedia("(prefers-color-scheme: dark)");
  const dark = () => (root.dataset.theme ? root.dataset.theme === "dark" : system.matches);
  /** Show the button that changes the colours; `changed` is called after every change. */
  function themes(changed = () => {}) {
    const button = document.getElementById("theme");
    const told = () => { button.textContent = dark() ? "Light colours" : "Dark colours"; changed(); };
    button.hidden = false;
    button.textContent = dark() ? "Light colours" : "Dark colours";
    button.addEventListener("click", () => {
      root.dataset.theme = dark() ? "light" : "dark";
      told();
    });
    system.addEventListener("change", told);
  }

  /** Let the reader save a text as a file. */
  function save(text, name, type) {
    const url = URL.createObjectURL(new Blob([text], { type: `${type};charset=utf-8` }));
    const link = el("a", { href: url, download: name, hidden: true });
    document.body.append(link);
    link.click();
    link.remove();
    setTimeout(() => URL.revokeObjectURL(url), 10_000);
  }

  return { el, unpack, libraries, guarded, dark, themes, save };
})();
