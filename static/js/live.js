// Polls for the regions of the page, and says how old what you see is.
(() => {
  const every = { fast: 2, slow: 5, idle: 10 };
  const control = document.getElementById("live");
  let paused = false, failures = 0, second = 0, good = Date.now();

  const parts = [["d", 86400], ["h", 3600], ["m", 60], ["s", 1]];
  const span = (seconds) => {
    if (seconds < 1) return "0 s";
    const at = parts.findIndex(([, length]) => seconds >= length);
    const [unit, length] = parts[at], [below, smaller] = parts[at + 1] || ["", 1];
    const rest = below ? Math.floor((seconds % length) / smaller) : 0;
    return `${Math.floor(seconds / length)} ${unit}` + (rest ? ` ${rest} ${below}` : "");
  };

  const show = () => {
    const since = Math.round((Date.now() - good) / 1000);
    const stale = failures > 1;
    document.documentElement.toggleAttribute("data-stale", stale);
    for (const time of document.querySelectorAll("time[data-age]"))
      time.textContent = span(Math.abs(Date.now() - Date.parse(time.dateTime)) / 1000);
    if (!control) return;
    const regions = document.querySelector("main [data-live-region]");
    control.dataset.live = stale ? "stale" : paused ? "paused" : regions ? "on" : "off";
    control.firstElementChild.textContent = stale ? `stale ${span(since)} – retry`
      : paused ? `paused ${span(since)}` : `${regions ? "live" : "loaded"} · ${span(since)} ago`;
    control.setAttribute("aria-pressed", String(paused));
  };

  const fire = (name) => htmx.trigger(document.body, `live-${name}`);

  setInterval(() => {
    show();
    if (paused || document.hidden) return;
    second += 1;
    const slower = 2 ** Math.min(failures, 4);
    for (const name in every) if (second % (every[name] * slower) === 0) fire(name);
  }, 1000);

  control?.addEventListener("click", () => {
    if (failures > 1) failures = 0; else paused = !paused;
    if (!paused) Object.keys(every).forEach(fire);
    show();
  });

  // What a reader has unfolded stays so, whatever the server sends.
  Idiomorph.defaults.callbacks.beforeAttributeUpdated = (name, node) =>
    !(name === "open" && node.matches("details, dialog"));

  const isPoll = (event) => event.detail.elt?.hasAttribute("data-live-region");

  document.body.addEventListener("htmx:afterRequest", (event) => {
    if (!isPoll(event)) return;
    if (event.detail.successful) { failures = 0; good = Date.now(); } else failures += 1;
    show();
  });

  for (const name of ["htmx:responseError", "htmx:sendError"])
    document.body.addEventListener(name, (event) => {
      if (isPoll(event)) return;
      const { xhr, elt } = event.detail;
      const toast = document.getElementById("toast").content.firstElementChild.cloneNode(true);
      toast.querySelector("span").textContent = xhr?.status === 403 ? "You lack the permission for this."
        : xhr?.status ? `The server answered ${xhr.status}.` : "The server cannot be reached.";
      toast.querySelector("code").textContent = xhr?.getResponseHeader?.("X-Request-ID") || "";
      const [retry, close] = toast.querySelectorAll("button");
      retry.onclick = () => { toast.remove(); elt.click ? elt.click() : location.reload(); };
      close.onclick = () => toast.remove();
      document.getElementById("toasts").append(toast);
    });
})();
