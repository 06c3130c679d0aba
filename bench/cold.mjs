/**
 * Cold paths, each beside an empty Node process in the same round: the first `import 'onward'`, `onward --help`, and
 * `onward dev` in an empty folder up to the page that it serves.
 *
 *   npm run bench:cold
 *
 * One JSON line per figure and, last, whether each bar is met. Never fails: figures are not tests.
 */
import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { median, round } from './measure.mjs';

const BARS_MS = { import: 25, help: 120, dev: 1_500 };
const ROUNDS = 9;
const DEV_ROUNDS = 3;
const GIVE_UP_MS = 60_000;
const main = fileURLToPath(new URL('../dist/cli/main.js', import.meta.url));
const inside = `const began = performance.now(); await import('onward'); console.log(performance.now() - began)`;

const lines = [
  paired('import', ROUNDS, () => Number(run(['--input-type=module', '-e', inside]))),
  paired('help', ROUNDS, () => timed(() => run([main, '--help']))),
];
const dev = [];
for (let i = 0; i < DEV_ROUNDS; i++) dev.push(await devToPage());
lines.push({
  case: 'cold_dev',
  ms: Math.round(median(dev)),
  best_ms: Math.round(Math.min(...dev)),
});
for (const line of lines) console.log(JSON.stringify(line));
const bars = Object.entries(BARS_MS).map(([name, limit]) => {
  const { ms: value } = lines.find((line) => line.case === `cold_${name}`);
  return [name, { value, limit, pass: value <= limit }];
});
console.log(JSON.stringify({ case: 'bars', ...Object.fromEntries(bars) }));

function run(args) {
  const cwd = fileURLToPath(new URL('..', import.meta.url));
  return execFileSync(process.execPath, args, { encoding: 'utf8', cwd });
}

function timed(work) {
  const began = performance.now();
  work();
  return performance.now() - began;
}

/** With the ratio to an empty process, which says more on a machine that others use. */
function paired(name, rounds, measure) {
  const ours = [];
  const empty = [];
  for (let i = 0; i < rounds; i++) {
    empty.push(timed(() => run(['-e', '0'])));
    ours.push(measure());
  }
  const ratios = ours.map((ms, i) => ms / empty[i]);
  return {
    case: `cold_${name}`,
    ms: round(median(ours), 1),
    best_ms: round(Math.min(...ours), 1),
    empty_process_ms: round(median(empty), 1),
    ratio: round(median(ratios)),
  };
}

async function devToPage() {
  const cwd = mkdtempSync(join(tmpdir(), 'onward-cold-'));
  const port = await freePort();
  const began = performance.now();
  const child = spawn(process.execPath, [main, 'dev', '--port', String(port)], {
    cwd,
    stdio: 'ignore',
  });
  try {
    for (;;) {
      const page = await fetch(`http://127.0.0.1:${port}/`).catch(() => null);
      if (page?.ok && (await page.text()).includes('<html')) return performance.now() - began;
      if (performance.now() - began > GIVE_UP_MS) throw new Error('onward dev served no page');
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  } finally {
    const gone = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGKILL');
    await gone;
    rmSync(cwd, { recursive: true, force: true });
  }
}

function freePort() {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}
