import { parseArgs } from 'node:util';
import { startPostgres } from '../setup/postgres.ts';
import { availableFaults } from './available-faults.ts';
import { campaignLine } from './campaign-line.ts';
import { faultKinds, kindsFor, type FaultKind } from './fault-schedule.ts';
import { killCampaign } from './kill-run.ts';
import { bundleWorker } from './worker-bundle.ts';

const usage =
  'npm run soak -- [--minutes N | --seeds N] [--seed N] [--store sqlite|postgres] [--faults kind,kind] [--count N]\n' +
  `Kinds of faults: ${faultKinds.join(', ')}.`;

/** Campaign after campaign, each with a seed of its own; one line each, and one that adds them up. */
export async function soak(args: readonly string[]): Promise<number> {
  const { minutes, seeds, store, seed, faults, count } = read(args);
  const kinds = store === undefined ? (['sqlite', 'postgres'] as const) : [store];
  const worker = await bundleWorker();
  const server = kinds.includes('postgres') ? await startPostgres({ fsync: true }) : null;
  const until = performance.now() + minutes * 60_000;
  const isOver = (i: number): boolean =>
    seeds === undefined ? i > 0 && performance.now() >= until : i >= seeds * kinds.length;
  const total = { campaigns: 0, sessions: 0, executions: 0, faults: 0, steps: 0 };
  const counts = { toolRuns: 0, unknownFates: 0, begunAgain: 0, violations: 0 };
  try {
    for (let i = 0; !isOver(i); i++) {
      const kind = kinds[i % kinds.length] ?? 'sqlite';
      const own = kind === 'postgres' ? server : null;
      const wanted = kindsFor(kind).filter((fault) => faults?.includes(fault) ?? true);
      const size = Math.floor(i / kinds.length) % 3;
      const report = await killCampaign({
        server: own,
        seed: seed + Math.floor(i / kinds.length),
        workerFile: worker.file,
        // few and many, so that workers have little and much in hand when they die
        sessions: [8, 24, 60][size] ?? 24,
        turns: [6, 3, 2][size] ?? 3,
        faults: count,
        kinds: availableFaults(wanted, own),
        workers: 2 + size,
        maxMs: 180_000,
        keep: true,
      });
      total.campaigns += 1;
      for (const key of ['sessions', 'executions', 'steps'] as const) total[key] += report[key];
      for (const done of Object.values(report.faults)) total.faults += done;
      for (const key of ['toolRuns', 'unknownFates', 'begunAgain'] as const)
        counts[key] += report[key];
      counts.violations += report.violations.length;
      console.log(`${kind}: ${campaignLine(report)}`);
      for (const line of counted(report.violations)) console.log(`  ${line}`);
      if (report.kept === null) continue;
      console.log(`  the schedule of seed ${report.seed}:`);
      for (const line of report.schedule) console.log(`    ${line}`);
      console.log(`  left for you to look at: ${report.kept}`);
    }
  } finally {
    worker.remove();
    await server?.stop();
  }
  console.log(JSON.stringify({ soak: 'kill', ...total, ...counts }));
  return counts.violations === 0 ? 0 : 1;
}

/** Each line once, with how often it is there. */
function counted(lines: readonly string[]): string[] {
  const counts = new Map<string, number>();
  for (const line of lines) counts.set(line, (counts.get(line) ?? 0) + 1);
  return Array.from(counts, ([line, n]) => (n > 1 ? `${line} (${n} times)` : line));
}

interface SoakOptions {
  readonly minutes: number;
  readonly seeds: number | undefined;
  readonly store: 'sqlite' | 'postgres' | undefined;
  readonly seed: number;
  readonly faults: readonly FaultKind[] | undefined;
  readonly count: number;
}

function read(args: readonly string[]): SoakOptions {
  const options = {
    minutes: text,
    seeds: text,
    store: text,
    seed: text,
    faults: text,
    count: text,
  };
  const { values } = parseArgs({ args: [...args], options });
  const minutes = Number(values.minutes ?? 5);
  const seeds = values.seeds === undefined ? undefined : Number(values.seeds);
  const seed = Number(values.seed ?? Date.now() % 1_000_000_000);
  const count = Number(values.count ?? 40);
  const { store } = values;
  const faults = values.faults?.split(',').map((name) => faultKinds.find((kind) => kind === name));
  const isStore = store === undefined || store === 'sqlite' || store === 'postgres';
  const isNumber = [seed, count, seeds ?? 1].every((n) => Number.isInteger(n) && n >= 0);
  if (!(minutes > 0) || !isNumber || !isStore || faults?.includes(undefined))
    throw new Error(`Usage: ${usage}`);
  return {
    minutes,
    seeds,
    store,
    seed,
    count,
    faults: faults?.filter((kind) => kind !== undefined),
  };
}

const text = { type: 'string' } as const;
