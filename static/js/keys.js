// Keys: what carries data-key is clicked, or focused when it is a field. No key decides anything.
{
  const usable = ({ target, ctrlKey, metaKey, altKey }) => document.documentElement.dataset.keys !== "off"
    && !(ctrlKey || metaKey || altKey || target.closest?.("input, textarea, select, [contenteditable]"));
  const scope = () => document.querySelector("dialog[open]") || document;
  const shown = (one) => one.checkVisibility?.() ?? true;

  const press = (key) => {
    const all = [...scope().querySelectorAll(`[data-key="${key}"]`)];
    const target = all.find(shown) || all[0];
    target?.matches("input") ? target.focus() : target?.click();
    return target;
  };

  const rows = (step) => {
    const links = [...scope().querySelectorAll("[data-row] a:first-of-type, a[data-row]")].filter(shown);
    const at = links.findIndex((link) => link.closest("[data-row]").contains(document.activeElement));
    links[Math.max(0, Math.min(links.length - 1, at + step))]?.focus();
    return links.length;
  };

  const unfold = () => {
    const all = [...scope().querySelectorAll("main details, dialog details")];
    const open = all.some((one) => !one.open);
    for (const one of all) one.open = open;
    return all.length;
  };

  const bindings = {};
  const bind = (key, act) => {
    bindings[key] = (event) => { if (usable(event) && act()) event.preventDefault(); };
  };
  for (const key of "/.[]acyput?123") bind(key, () => press(key));
  for (const key of "ordmawsklexpt") bind(`g ${key}`, () => press(`g ${key}`));
  bind("j", () => rows(1));
  bind("k", () => rows(-1));
  bind("e", unfold);
  for (const key of "/?") bindings[`Shift+${key}`] = bindings[key];
  tinykeys.tinykeys(window, bindings);
}
