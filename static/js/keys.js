// Keys: what carries data-key is clicked, or focused when it is a field. No key decides anything.
(() => {
  const root = document.documentElement;
  const typing = (event) => event.target.closest?.("input, textarea, select, [contenteditable]");
  const usable = (event) => root.dataset.keys !== "off" && !typing(event) && !event.ctrlKey && !event.metaKey && !event.altKey;
  const scope = () => document.querySelector("dialog[open]") || document;
  const shown = (element) => element.checkVisibility?.() ?? true;

  const press = (key) => {
    const all = [...scope().querySelectorAll(`[data-key="${key}"]`)];
    const target = all.find(shown) || all[0];
    if (!target) return false;
    target.matches("input") ? target.focus() : target.click();
    return true;
  };

  const rows = (step) => {
    const links = [...scope().querySelectorAll("[data-row] a:first-of-type, a[data-row]")].filter(shown);
    if (!links.length) return false;
    const at = links.findIndex((link) => link === document.activeElement || link.closest("[data-row]")?.contains(document.activeElement));
    links[Math.max(0, Math.min(links.length - 1, at + step))].focus();
    return true;
  };

  const acts = { j: () => rows(1), k: () => rows(-1) };
  acts.e = () => {
    const all = [...scope().querySelectorAll("main details, dialog details")];
    const open = all.some((one) => !one.open);
    all.forEach((one) => { one.open = open; });
    return all.length > 0;
  };

  const bindings = {};
  const bind = (key, act) => {
    bindings[key] = (event) => { if (usable(event) && act()) event.preventDefault(); };
  };
  for (const key of ["/", ".", "[", "]", "c", "y", "p", "u", "t", "?"]) bind(key, () => press(key));
  for (const key of "ordmawskl") bind(`g ${key}`, () => press(`g ${key}`));
  for (const key in acts) bind(key, acts[key]);
  for (const key of "/?") bindings[`Shift+${key}`] = bindings[key];
  tinykeys.tinykeys(window, bindings);
})();
