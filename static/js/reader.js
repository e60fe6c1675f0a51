// The zone and the theme of this device.
{
  const keep = (pair) => {
    document.cookie = `${pair}; path=/; max-age=31536000; samesite=lax` + (location.protocol === "https:" ? "; secure" : "");
  };
  keep(`zone=${encodeURIComponent(Intl.DateTimeFormat().resolvedOptions().timeZone)}`);

  document.getElementById("theme")?.addEventListener("submit", (event) => {
    event.preventDefault();
    const form = event.target, chosen = form.theme.value;
    fetch(form.action + "?kept", { method: "POST", body: new FormData(form), keepalive: true });
    keep(`theme=${chosen}`);
    document.documentElement.dataset.theme = chosen;
    document.getElementById("said").textContent = `Theme: ${chosen}.`;
    form.theme.value = { system: "light", light: "dark", dark: "system" }[chosen];
  });
}
