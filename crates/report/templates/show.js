// The turn of a message is marked where one points at either of them, and every second token is painted. Keys: j, k, [, ], / and ?.
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

// Highlights add nothing to the document. A browser without them shows no tokens, and neither is what is behind so many.
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
    at += Number.parseInt(length, 36);
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

// Messages of a range are in the document once it was opened.
const fill = (range) => {
  const messages = range.querySelector(":scope > noscript");
  if (messages) messages.outerHTML = messages.textContent;
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
  for (let around = target.parentElement; around; around = around.parentElement) {
    if (around instanceof HTMLDetailsElement) around.open = true;
  }
  target.focus({ preventScroll: true });
  target.scrollIntoView({ block: "nearest" });
};
const step = (all, by) => {
  const at = all.indexOf(document.activeElement);
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
const find = () => {
  const words = field.value.trim().toLowerCase();
  const has = (one) => one.textContent.toLowerCase().includes(words);
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
