// Pointing at a message or at its turn marks both, and every second token is painted. Keys: j, k, [, ], / and ?.
let marked = [];
const mark = (target) => {
  const from = target instanceof Element ? target.closest("[data-m]") : null;
  const number = from?.getAttribute("data-m");
  for (const one of marked) one.classList.remove("is-marked");
  marked = number ? [...from.closest(".conversation").querySelectorAll(`[data-m="${number}"]`)] : [];
  for (const one of marked) one.classList.add("is-marked");
};
addEventListener("pointerover", (event) => mark(event.target));
addEventListener("focusin", (event) => mark(event.target));
addEventListener("click", (event) => {
  const from = event.target instanceof Element && event.target.closest("[data-m]");
  if (!from || event.target.closest("a, summary")) return;
  const isMessage = from.matches("article");
  const others = marked.filter((one) => one.matches("article") !== isMessage);
  others.find((one) => one.offsetParent)?.scrollIntoView({ block: "nearest" });
});

// Highlights add nothing to the document. A browser without them shows no tokens, and tokens after this number are not painted.
const MOST_PAINTED = 20000;
const highlight = globalThis.Highlight && CSS.highlights ? new Highlight() : null;
if (highlight) CSS.highlights.set("token", highlight);
const paint = (words) => {
  const lengths = words.dataset.tokens.split(" ").slice(0, MOST_PAINTED);
  words.removeAttribute("data-tokens");
  const texts = document.createTreeWalker(words, NodeFilter.SHOW_TEXT);
  const next = () => /** @type {Text | null} */ (texts.nextNode());
  let node = next();
  let before = 0;
  const place = (/** @type {number} */ at) => {
    while (node && at > before + node.length) {
      before += node.length;
      node = next();
    }
    return node && { node, offset: at - before };
  };
  let at = 0;
  for (const [number, length] of lengths.entries()) {
    const start = place(at);
    at += Number(length);
    const end = place(at);
    if (!start || !end) return;
    if (number % 2 === 0) continue;
    const range = new StaticRange({
      startContainer: start.node,
      startOffset: start.offset,
      endContainer: end.node,
      endOffset: end.offset,
    });
    highlight.add(range);
  }
};
const paintOpen = (within) => {
  for (const words of within.querySelectorAll("details[open] > .words[data-tokens]")) paint(words);
};
if (highlight) {
  paintOpen(document);
  const opened = (event) => event.target instanceof Element && paintOpen(event.target.parentNode);
  document.addEventListener("toggle", opened, true);
}

// Versions of a message are tabs. Later messages of the chat's version are shown only while its tab is chosen.
const position = (article) => Number(/\d+$/.exec(article.id));
const own = (versions) => versions.querySelector(":scope > .version");
const follows = (article) => (versions) =>
  position(article) > position(versions.closest("article")) && position(article) <= Number(versions.dataset.last);
const places = (conversation) => [...conversation.querySelectorAll(".versions[data-last]")];
const settle = (conversation) => {
  const replaced = places(conversation).filter((one) => own(one).hidden);
  for (const one of conversation.querySelectorAll("article")) one.hidden = replaced.some(follows(one));
};
const choose = (panel) => {
  for (const one of panel.parentNode.querySelectorAll(":scope > .version")) {
    one.hidden = one !== panel;
    const tab = document.getElementById(one.getAttribute("aria-labelledby"));
    tab.setAttribute("aria-selected", String(one === panel));
    tab.tabIndex = one === panel ? 0 : -1;
  }
  settle(panel.closest(".conversation"));
};
const tabs = (versions) => {
  const list = document.createElement("div");
  list.setAttribute("role", "tablist");
  list.setAttribute("aria-label", "Versions");
  const panels = [...versions.children];
  const id = `${versions.closest("article").id}-${versions.dataset.last ? "own" : "other"}`;
  for (const [number, panel] of panels.entries()) {
    const heading = panel.firstElementChild;
    heading.hidden = true;
    const tab = document.createElement("button");
    tab.type = "button";
    tab.textContent = heading.textContent;
    tab.id = `${id}-${number}`;
    panel.id = `${id}-panel-${number}`;
    for (const [name, value] of [["role", "tab"], ["aria-controls", panel.id]]) tab.setAttribute(name, value);
    for (const [name, value] of [["role", "tabpanel"], ["aria-labelledby", tab.id]]) panel.setAttribute(name, value);
    tab.addEventListener("click", () => choose(panel));
    tab.addEventListener("keydown", (event) => {
      const by = { ArrowRight: 1, ArrowLeft: -1, Home: -number, End: panels.length - 1 - number }[event.key];
      if (by === undefined) return;
      event.preventDefault();
      const next = panels[(number + by + panels.length) % panels.length];
      choose(next);
      document.getElementById(next.getAttribute("aria-labelledby")).focus();
    });
    list.append(tab);
  }
  versions.prepend(list);
  choose(own(versions));
};
for (const versions of document.querySelectorAll(".versions")) tabs(versions);

// One rendering is shown, that of the chosen dialect, perspective and window; each field offers the values that exist for the fields before it.
for (const chooser of document.querySelectorAll("form")) {
  const all = [...chooser.parentElement.querySelectorAll("details")].filter((one) => one.matches(".rendering"));
  const fields = [...chooser.querySelectorAll("select")];
  const apply = () => {
    let fitting = all;
    for (const field of fields) {
      const of = (one) => one.dataset[field.name];
      const values = [...new Set(fitting.map(of))];
      const value = values.includes(field.value) ? field.value : values[0];
      field.replaceChildren(...values.map((one) => new Option(one || "none", one, false, one === value)));
      field.parentElement.hidden = values.length < 2;
      fitting = fitting.filter((one) => of(one) === value);
    }
    for (const one of all) {
      one.open = fitting.includes(one);
      one.hidden = !one.open;
    }
  };
  chooser.hidden = all.length < 2;
  chooser.addEventListener("input", apply);
  if (!chooser.hidden) apply();
}

// The messages of a range are added to the document when it is first unfolded.
const fill = (range) => {
  const messages = range.querySelector(":scope > noscript");
  if (!messages) return;
  messages.outerHTML = messages.textContent;
  for (const versions of range.querySelectorAll(".versions")) tabs(versions);
  settle(range.closest(".conversation"));
};
const folded = (within) => [...within.querySelectorAll("details.range")].filter((one) => one.querySelector("noscript"));
document.addEventListener("toggle", ({ target }) => target instanceof Element && target.matches(".range") && fill(target), true);
addEventListener("beforeprint", () => {
  for (const range of folded(document)) fill(range);
});
const goTo = (address) => {
  const [, chat, number] = /^#(.*m)(\d+)$/.exec(address) ?? [];
  if (!number || document.getElementById(chat + number)) return;
  const around = document.getElementById(`${chat}-title`).closest(".conversation");
  const range = folded(around).find((one) => Number(one.dataset.last) >= Number(number));
  if (!range) return;
  fill(range);
  range.open = true;
  document.getElementById(chat + number)?.scrollIntoView();
};
addEventListener("hashchange", () => goTo(location.hash));
goTo(location.hash);

const go = (target) => {
  if (target.hidden) {
    for (const one of places(target.closest(".conversation")).filter(follows(target))) choose(own(one));
  }
  for (let around = target.parentElement; around; around = around.parentElement) {
    if (around instanceof HTMLDetailsElement) around.open = true;
  }
  target.focus({ preventScroll: true });
  target.scrollIntoView({ block: "nearest" });
};
const step = (all, by) => {
  const at = all.indexOf(document.activeElement?.closest("article"));
  const next = all[at < 0 ? 0 : at + by];
  if (next) go(next);
};
/** @type {HTMLElement} */
const search = document.querySelector(".search");
/** @type {HTMLDialogElement} */
const keys = document.querySelector("dialog.keys");
const shownMessages = () => [...document.querySelectorAll("article.message")].filter((one) => one.checkVisibility());
const [field, count] = [search.querySelector("input"), search.querySelector("output")];
let found = [];
let shown = 0;
let sought = "";
const has = (one) => one.textContent.toLowerCase().includes(field.value.trim().toLowerCase());
const find = () => {
  const words = field.value.trim();
  if (words) for (const range of folded(document).filter(has)) fill(range);
  found = words ? [...document.querySelectorAll("article.message")].filter(has) : [];
  shown = 0;
  count.textContent = words ? `${found.length} found` : "";
};
field.addEventListener("keydown", (event) => {
  if (event.key === "Escape") {
    search.hidden = true;
    found[shown]?.focus();
  }
  if (event.key !== "Enter") return;
  const by = event.shiftKey ? -1 : 1;
  if (sought === field.value) shown = (shown + by + found.length) % found.length;
  else find();
  sought = field.value;
  const next = found[shown];
  if (!next) return;
  count.textContent = `${shown + 1} of ${found.length}`;
  go(next);
  for (const one of next.querySelectorAll(".versions")) choose([...one.querySelectorAll(".version")].find(has) ?? own(one));
  mark(next);
  field.focus({ preventScroll: true });
});
addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target === field) return;
  const by = { j: 1, k: -1, "]": 1, "[": -1 }[event.key];
  if (by && "jk".includes(event.key)) {
    step(shownMessages(), by);
  } else if (by) {
    const titles = [...document.querySelectorAll(".title")];
    const here = document.activeElement?.closest(".conversation")?.querySelector(".title");
    const next = titles[here ? titles.indexOf(here) + by : 0];
    if (next) go(next);
  } else if (event.key === "/") {
    event.preventDefault();
    search.hidden = false;
    field.select();
    field.focus();
  } else if (event.key === "?") {
    keys.open ? keys.close() : keys.showModal();
  }
});
