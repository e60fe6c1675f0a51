// Copies what a button names in data-copy (or this page's address), and says so.
document.addEventListener("click", async (event) => {
  const button = event.target.closest("[data-copy]");
  if (!button) return;
  const text = button.dataset.copy || location.href;
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const field = document.createElement("textarea");
    Object.assign(field, { value: text, className: "visually-hidden" });
    button.after(field);
    field.select();
    document.execCommand("copy");
    field.remove();
    button.focus();
  }
  button.dataset.copied = "";
  document.getElementById("said").textContent = "Copied.";
  setTimeout(() => delete button.dataset.copied, 1500);
});
