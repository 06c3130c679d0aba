// Runs before the first paint, so that the other theme never flashes. A file, because inline scripts are refused.
(function () {
  let kept = null;
  try {
    kept = localStorage.getItem('onward-theme');
  } catch {
    // a browser without storage follows the system
  }
  const isDark =
    kept === 'dark' || (kept !== 'light' && matchMedia('(prefers-color-scheme: dark)').matches);
  document.documentElement.dataset.theme = isDark ? 'dark' : 'light';
})();
