// The zone of this device, and the theme without a reload.
{
  const keep = (pair) => {
    document.cookie = `${pair}; path=/; max-age=31536000; samesite=lax` + (location.protocol === "https:" ? "; secure" : "");
  };
  keep(`zone=${encodeURIComponent(Intl.DateTimeFormat().resolvedOptions().timeZone)}`);

  document.getElementById("theme")?.addEventListener("submit", (event) => {
    event.preventDefault();
    const form = event.target, chosen = form.theme.value;
    fetch(form.action, { method: "POST", body: new FormData(form), redirect: "manual" });
    keep(`theme=${chosen}`);
    document.documentElement.dataset.theme = chosen;
    document.getElementById("said").textContent = `Theme: ${chosen}.`;
    form.theme.value = { system: "light", light: "dark", dark: "system" }[chosen];
  });
}
