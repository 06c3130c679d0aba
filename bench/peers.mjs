/**
 * Our loop beside other frameworks, in one interleaved run with one process per measurement. Their harness and pinned
 * versions lie outside this repository: `BENCH_PEERS` names its folder, `ROUNDS` the number of rounds.
 */
import { execFile, execFileSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
} from 'node:fs';
import { rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { median, round } from './measure.mjs';

const harness =
  process.env.BENCH_PEERS ?? fileURLToPath(new URL('../../shared/bench', import.meta.url));
const rounds = Number(process.env.ROUNDS ?? 2);
const frameworks = {
  onward: 'run',
  bare: 'loop+zod',
  'ai-sdk': 'generateText',
  'openai-agents': 'runner',
  langgraph: 'react',
  mastra: 'agent',
};
const SIZES = [10, 100, 1000];
const MAX_SHARE_OF_BEST_PEER = 0.1;
const TIMEOUT_MS = 240_000;
/** A framework that took this long is not asked again for that size. */
const SLOW_MS = 30_000;

if (existsSync(join(harness, 'install.sh'))) await compare();
else console.log('The harness for other frameworks is not here. Name its folder with BENCH_PEERS.');

async function compare() {
  const folder = mkdtempSync(join(tmpdir(), 'onward-peers-'));
  try {
    prepare(folder);
    report(await measureAll(folder));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function prepare(folder) {
  cpSync(harness, folder, { recursive: true });
  for (const entry of ['.', ...readdirSync(folder, { recursive: true })])
    chmodSync(join(folder, entry), 0o755);
  const others = Object.keys(frameworks).filter((name) => name !== 'onward');
  execFileSync('./install.sh', others, { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] });
  copyFileSync(new URL('peers-adapter.mjs', import.meta.url), join(folder, 'bench/onward.mjs'));
  mkdirSync(join(folder, 'pkgs/onward'), { recursive: true });
  const entry = ['onward', 'zod'].map((name) => `export * from '${import.meta.resolve(name)}';\n`);
  writeFileSync(join(folder, 'pkgs/onward/entry.mjs'), entry.join(''));
}

async function measureAll(folder) {
  const names = Object.keys(frameworks);
  const lines = [];
  const slow = new Set();
  for (let i = 0; i < rounds; i++)
    for (const steps of SIZES)
      for (const [place] of names.entries()) {
        const name = names[(place + i) % names.length];
        const key = `${name} ${steps}`;
        if (slow.has(key)) continue;
        const began = performance.now();
        lines.push({ name, steps, ...(await measure(folder, name, steps)) });
        if (performance.now() - began > SLOW_MS) slow.add(key);
      }
  return lines;
}

async function measure(folder, name, steps) {
  const node = join(folder, 'node_modules/node/bin/node');
  const args = [
    `bench/${name}.mjs`,
    '--variant',
    frameworks[name],
    '--mode',
    'run',
    '--steps',
    steps,
  ];
  if (steps >= 1000) args.push('--min-runs', 1);
  const env = { ...process.env, NODE_ENV: 'production' };
  try {
    const options = { cwd: folder, env, timeout: TIMEOUT_MS };
    const { stdout } = await promisify(execFile)(node, args.map(String), options);
    return JSON.parse(stdout.trim().split('\n').at(-1));
  } catch (error) {
    return { failed: String(error.message).split('\n')[0] };
  }
}

function report(lines) {
  const print = (line) => console.log(JSON.stringify(line));
  for (const steps of SIZES) {
    const figures = Object.keys(frameworks).map((name) => figure(lines, name, steps));
    for (const line of figures) print({ case: 'peers', ...line });
    const measured = figures.filter(({ us_per_step: us }) => us !== undefined);
    const us = (name) => measured.find(({ framework }) => framework === name)?.us_per_step;
    const peers = measured.filter(({ framework }) => !['onward', 'bare'].includes(framework));
    if (us('onward') === undefined || peers.length === 0) continue;
    const best = peers.reduce((a, b) => (b.us_per_step < a.us_per_step ? b : a));
    const share = us('onward') / best.us_per_step;
    print({
      case: 'peers_bar',
      steps,
      onward_us: us('onward'),
      best_peer: best.framework,
      best_peer_us: best.us_per_step,
      share_of_best_peer: round(share, 3),
      ratio_to_bare: us('bare') === undefined ? null : round(us('onward') / us('bare'), 1),
      pass: share <= MAX_SHARE_OF_BEST_PEER,
    });
  }
}

function figure(lines, framework, steps) {
  const own = lines.filter((line) => line.name === framework && line.steps === steps);
  const good = own.filter(({ us_per_step: us }) => us !== undefined);
  const base = { framework, variant: frameworks[framework], steps };
  if (good.length === 0) return { ...base, failed: own[0]?.failed ?? 'not measured' };
  return {
    ...base,
    us_per_step: round(median(good.map(({ us_per_step: us }) => us))),
    best_us_per_step: round(Math.min(...good.map(({ us_per_step_min: us }) => us))),
    processes: good.length,
    versions: good[0].versions,
  };
}
