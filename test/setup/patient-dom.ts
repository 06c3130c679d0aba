/** A busy machine is slow, not wrong: what a page shows is waited for longer than the second that is the default. */
if ('document' in globalThis) {
  const { configure } = await import('@testing-library/dom');
  configure({ asyncUtilTimeout: 15_000 });
}
