// The turn of a message is marked where one points at either of them; j and k go from message to message.
let marked = [];
const mark = (target) => {
  const number = target instanceof Element && target.closest("[data-m]")?.getAttribute("data-m");
  for (const one of marked) one.classList.remove("is-marked");
  marked = number ? [...document.querySelectorAll(`[data-m="${number}"]`)] : [];
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
addEventListener("keydown", (event) => {
  const step = { j: 1, k: -1 }[event.key];
  if (!step || event.ctrlKey || event.metaKey || event.altKey) return;
  const messages = [...document.querySelectorAll("article.message")].filter((one) => one.offsetParent);
  const at = messages.indexOf(document.activeElement);
  const next = messages[at < 0 ? 0 : at + step];
  next?.focus();
  next?.scrollIntoView({ block: "nearest" });
});
