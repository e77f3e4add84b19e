// The chosen filters are in the address, so that a link opens the same view.
/** @type {HTMLFormElement} */
const form = document.querySelector("form.filters");
if (form) {
  const details = [...document.querySelectorAll("details")];
  const files = details.filter((one) => one.matches(".file"));
  const codes = details.filter((one) => one.matches(".code"));
  const rows = [...document.querySelectorAll("tr")].filter((one) => one.matches("[data-path]"));
  const chosen = () => Object.fromEntries([...new FormData(form)].map(([name, value]) => [name, String(value)]));
  const said = form.querySelector("output");
  const apply = () => {
    const { severity, code, file } = chosen();
    const part = file.trim().toLowerCase();
    const isChosen = Boolean(severity || code || part);
    let findings = 0;
    let shown = 0;
    for (const one of files) {
      const fits = one.dataset.path.toLowerCase().includes(part);
      let here = 0;
      for (const found of one.querySelectorAll("li")) {
        const is = fits
          && (found.dataset.code ? (!code || found.dataset.code === code) : !code)
          && (found.dataset.severity ? (!severity || found.dataset.severity === severity) : !severity);
        found.hidden = !is;
        if (is) here += 1;
      }
      one.hidden = here === 0;
      if (here > 0) {
        shown += 1;
        findings += here;
        if (isChosen && shown <= 50) one.open = true;
      }
    }
    const open = new Set(files.filter((one) => !one.hidden).map((one) => one.dataset.path));
    for (const row of rows) {
      const { path } = row.dataset;
      row.hidden = !path.toLowerCase().includes(part) || (Boolean(severity || code) && !open.has(path));
    }
    for (const one of codes) {
      one.hidden = Boolean(code) && one.dataset.code !== code;
    }
    const say = (number) => number.toLocaleString("en");
    said.textContent = `${say(findings)} findings in ${say(shown)} of ${say(files.length)} files`;
  };
  const follow = () => {
    const { hash } = location;
    if (hash.startsWith("#?")) {
      const wanted = new URLSearchParams(hash.slice(2));
      for (const field of form.elements) {
        if (field instanceof HTMLSelectElement || field instanceof HTMLInputElement) field.value = wanted.get(field.name) ?? "";
      }
      apply();
      form.scrollIntoView();
      return;
    }
    const target = hash.length > 1 && document.getElementById(decodeURIComponent(hash.slice(1)));
    if (!target) return;
    form.reset();
    apply();
    const around = target.closest("details");
    if (around) around.open = true;
    target.scrollIntoView();
  };
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("input", () => {
    const wanted = new URLSearchParams(Object.entries(chosen()).filter(([, value]) => value));
    history.replaceState(null, "", wanted.size ? `#?${wanted}` : location.pathname + location.search);
    apply();
  });
  addEventListener("hashchange", follow);
  apply();
  follow();
}
