// Exits with 0 if the URL answers 200. The image has no curl.
const [url = ''] = process.argv.slice(2);
const isReady = await fetch(url, { signal: AbortSignal.timeout(3_000) }).then(
  ({ ok }) => ok,
  () => false,
);
process.exitCode = isReady ? 0 : 1;
