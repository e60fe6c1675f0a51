// Opens links marked data-drawer beside the page, where there is room for both.
{
  const drawer = document.getElementById("drawer");
  let home;

  document.addEventListener("click", async (event) => {
    const opener = event.target.closest("[data-dialog]");
    if (opener) document.getElementById(opener.dataset.dialog)?.showModal();
    if (event.target.closest("[data-notify]")) self.Notification?.requestPermission();
    if (event.target.closest("[data-close]") || event.target === drawer) event.target.closest("dialog")?.close();

    const link = event.target.closest("a[data-drawer]");
    if (!link || innerWidth < 900 || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    home ??= location.href;
    await htmx.ajax("GET", link.href, { target: "#drawer-body", swap: "innerHTML" });
    history.pushState({ drawer: true }, "", link.href);
    if (!drawer.open) drawer.showModal();
    drawer.scrollTop = 0;
  });

  drawer.addEventListener("close", () => {
    if (home && location.href !== home) history.pushState({}, "", home);
    home = null;
  });

  addEventListener("popstate", () => {
    if (drawer.open && location.href === home) drawer.close();
    else location.reload();
  });
}
