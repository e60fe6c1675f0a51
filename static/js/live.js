// Polls for the regions of the page, says how old what you see is, and how much needs you.
{
  const every = { fast: 2, slow: 5, idle: 10, frame: 10 };
  const control = document.getElementById("live");
  let paused = false, failures = 0, second = 0, known, good = Date.now();

  const parts = [["d", 86400], ["h", 3600], ["m", 60], ["s", 1]];
  const span = (seconds) => {
    const at = parts.findIndex(([, length]) => seconds >= length);
    if (at < 0) return "0 s";
    const [[unit, length], [below, smaller] = []] = parts.slice(at);
    const rest = below && Math.floor((seconds % length) / smaller);
    return `${Math.floor(seconds / length)} ${unit}` + (rest ? ` ${rest} ${below}` : "");
  };

  const show = () => {
    const since = span((Date.now() - good) / 1000), stale = failures > 1;
    document.documentElement.toggleAttribute("data-stale", stale);
    for (const time of document.querySelectorAll("time[data-age]"))
      time.textContent = span(Math.abs(Date.now() - Date.parse(time.dateTime)) / 1000);
    if (!control) return;
    const regions = document.querySelector("main [data-live-region]");
    control.dataset.live = stale ? "stale" : paused ? "paused" : regions ? "on" : "off";
    control.firstElementChild.textContent = stale ? `stale ${since} – retry`
      : paused ? `paused ${since}` : `${regions ? "live" : "loaded"} · ${since} ago`;
    control.ariaPressed = paused;
  };

  const count = () => {
    const before = known;
    known = +document.getElementById("engine")?.dataset.needs;
    document.title = document.title.replace(/^(\(\d+\) )?/, known ? `(${known}) ` : "");
    if (known > before && self.Notification?.permission === "granted")
      new Notification("Milepost", { body: `${known} need you`, tag: "needs" });
  };

  const fire = (name) => htmx.trigger(document.body, `live-${name}`);

  setInterval(() => {
    show();
    if (paused) return;
    second += 1;
    const slower = 2 ** Math.min(failures, 4);
    for (const name in every)
      if (second % (every[name] * slower) === 0 && (name === "frame" || !document.hidden)) fire(name);
    count();
  }, 1000);

  control?.addEventListener("click", () => {
    if (failures > 1) failures = 0; else paused = !paused;
    if (!paused) Object.keys(every).forEach(fire);
    show();
  });

  // What a reader has unfolded or ticked stays so, whatever the server sends.
  Idiomorph.defaults.callbacks.beforeAttributeUpdated = (name, node) =>
    name !== "checked" && !(name === "open" && node.matches("details, dialog"));

  const isPoll = (elt) => elt?.hasAttribute("data-live-region");

  document.body.addEventListener("htmx:afterRequest", ({ detail }) => {
    if (!isPoll(detail.elt)) return;
    if (detail.successful) { failures = 0; good = Date.now(); } else failures += 1;
    show();
  });

  for (const name of ["htmx:responseError", "htmx:sendError"])
    document.body.addEventListener(name, ({ detail: { xhr, elt } }) => {
      if (isPoll(elt)) return;
      const toast = document.getElementById("toast").content.firstElementChild.cloneNode(true);
      toast.querySelector("span").textContent = xhr.status === 403 ? "You lack the permission for this."
        : xhr.status ? `The server answered ${xhr.status}.` : "The server cannot be reached.";
      toast.querySelector("code").textContent = xhr.getResponseHeader("X-Request-ID");
      const [retry, close] = toast.querySelectorAll("button");
      retry.onclick = () => { toast.remove(); elt.click ? elt.click() : location.reload(); };
      close.onclick = () => toast.remove();
      document.getElementById("toasts").append(toast);
    });
}
