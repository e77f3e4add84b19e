// Sorting: every header becomes a button; numbers are sorted from the largest, words from A. Printing unfolds everything.
for (const head of document.querySelectorAll("th")) {
  if (!head.matches("thead th:not([data-unsorted])")) continue;
  const button = document.createElement("button");
  button.type = "button";
  button.append(...head.childNodes);
  head.append(button);
  head.setAttribute("aria-sort", "none");
  button.addEventListener("click", () => {
    const isNumber = head.classList.contains("number");
    const was = head.getAttribute("aria-sort");
    const rises = was === "none" ? !isNumber : was === "descending";
    const value = (row) => {
      const cell = row.cells[head.cellIndex];
      const text = cell.dataset.sort ?? cell.textContent;
      if (!isNumber) return text;
      const number = Number(text.replace(/[^0-9.eE+-]/g, ""));
      return Number.isNaN(number) || text.trim() === "–" ? -Infinity : number;
    };
    const compare = (one, other) => {
      const [a, b] = [value(one), value(other)];
      const order = isNumber ? (a === b ? 0 : a < b ? -1 : 1) : a.localeCompare(b);
      return rises ? order : -order;
    };
    for (const body of head.closest("table").tBodies) {
      body.append(...[...body.rows].filter((row) => !row.classList.contains("group")).sort(compare));
    }
    for (const other of head.parentElement.querySelectorAll("[aria-sort]")) other.setAttribute("aria-sort", "none");
    head.setAttribute("aria-sort", rises ? "ascending" : "descending");
  });
}
addEventListener("beforeprint", () => {
  for (const details of document.querySelectorAll("details")) if (!details.matches(".query")) details.open = true;
});
