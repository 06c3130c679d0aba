// Before the first paint, so that nobody sees the other theme for a moment. A file, because inline scripts are refused.
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
