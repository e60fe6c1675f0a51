// Keys: what carries data-key is clicked, or focused when it is a field. No key decides anything.
{
  const usable = ({ target, ctrlKey, metaKey, altKey }) => document.documentElement.dataset.keys !== "off"
    && !(ctrlKey || metaKey || altKey || target.closest?.("input, textarea, select"));
  const scope = () => document.querySelector("dialog[open]") || document;
  const all = (what) => [...scope().querySelectorAll(what)];
  const shown = (one) => one.checkVisibility?.() ?? true;

  const press = (key) => {
    const named = all(`[data-key="${key}"]`), target = named.find(shown) || named[0];
    target?.matches("input") ? target.focus() : target?.click();
    return target;
  };

  const row = (link) => link.closest("[data-row]");
  const rows = (step) => {
    const links = all("[data-row] a:first-of-type, a[data-row]").filter(shown);
    const at = links.findIndex((link) => row(link) === row(document.activeElement));
    (links[at + step] ?? links[at < 0 ? 0 : at])?.focus();
    return links.length;
  };

  const unfold = () => {
    const folds = all("main details, dialog details");
    const open = folds.some((one) => !one.open);
    for (const one of folds) one.open = open;
  };

  const bindings = {};
  const bind = (key, act) => {
    bindings[key] = (event) => { if (usable(event) && act()) event.preventDefault(); };
  };
  for (const key of "/.[]acyput?123") bind(key, () => press(key));
  for (const key of "ordmawsklexpt") bind(`g ${key}`, () => press(`g ${key}`));
  bind("j", () => rows(1));
  bind("k", () => rows(-1));
  bind("x", () => row(document.activeElement)?.querySelector("[type=checkbox]")?.click());
  bind("e", unfold);
  for (const key of "/?") bindings[`Shift+${key}`] = bindings[key];
  tinykeys.tinykeys(window, bindings);
}
