// Not a module, so that it runs before anything is painted: a page never flashes in the colours that were not chosen.
try {
  document.documentElement.dataset.theme = localStorage.getItem("afterglow.theme") ?? "system";
} catch {
  document.documentElement.dataset.theme = "system";
}
