// Runs before the first paint, so that the other theme never flashes. It is a file because the CSP refuses inline scripts.
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
