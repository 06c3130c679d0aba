import { parseArgs } from 'node:util';
import { startPostgres } from '../setup/postgres.ts';
import { availableFaults } from './available-faults.ts';
import { campaignLine } from './campaign-line.ts';
import { faultKinds, kindsFor, type FaultKind } from './fault-schedule.ts';
import { killCampaign, type CampaignOptions } from './kill-run.ts';
import { bundleProgram } from '../setup/bundle-program.ts';

const usage =
  'npm run soak -- [--minutes N | --seeds N] [--seed N] [--store sqlite|postgres] [--faults kind,kind] [--count N]\n' +
  `Kinds of faults: ${faultKinds.join(', ')}.`;

/** Runs campaigns with different seeds, and prints one line each and a total. */
export async function soak(args: readonly string[]): Promise<number> {
  const given = read(args);
  if (!given) {
    console.log(`Usage: ${usage}`);
    return args.includes('--help') ? 0 : 2;
  }
  const { minutes, seeds, stores, faults, count } = given;
  const worker = await bundleProgram('test/kill/kill-worker.ts');
  const server = stores.includes('postgres') ? await startPostgres({ fsync: true }) : null;
  const until = performance.now() + minutes * 60_000;
  const isOver = (i: number): boolean =>
    seeds === undefined ? i > 0 && performance.now() >= until : i >= seeds * stores.length;
  const total = { campaigns: 0, sessions: 0, executions: 0, faults: 0, steps: 0 };
  const counts = { toolRuns: 0, unknownFates: 0, begunAgain: 0, violations: 0 };
  try {
    for (let i = 0; !isOver(i); i++) {
      const store = stores[i % stores.length] ?? 'sqlite';
      const own = store === 'postgres' ? server : null;
      const seed = given.seed + Math.floor(i / stores.length);
      const kinds = availableFaults(
        kindsFor(store).filter((kind) => faults?.includes(kind) ?? true),
        own,
      );
      const sizes = sizesFor(seed);
      const workerFile = worker.file;
      const options = { ...sizes, server: own, seed, workerFile, kinds, faults: count };
      const report = await killCampaign({ ...options, keep: true });
      total.campaigns += 1;
      for (const key of ['sessions', 'executions', 'steps'] as const) total[key] += report[key];
      for (const done of Object.values(report.faults)) total.faults += done;
      for (const key of ['toolRuns', 'unknownFates', 'begunAgain'] as const)
        counts[key] += report[key];
      counts.violations += report.violations.length;
      console.log(`${store}: ${campaignLine(report)}`);
      for (const line of counted(report.violations)) console.log(`  ${line}`);
      if (report.kept === null) continue;
      console.log(
        `  to repeat it: npm run soak -- --seeds 1 --seed ${seed} --store ${store} --count ${count} --faults ${kinds.join(',')}`,
      );
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

/** Few and many sessions, so that workers have little or much work when they die. */
const sizesFor = (seed: number): Pick<CampaignOptions, 'sessions' | 'turns' | 'workers'> => {
  const sizes = [
    { sessions: 8, turns: 6, workers: 2 },
    { sessions: 24, turns: 3, workers: 3 },
    { sessions: 60, turns: 2, workers: 4 },
  ];
  return sizes[seed % sizes.length] ?? { sessions: 8, turns: 6, workers: 2 };
};

/** Each line once, with its count. */
function counted(lines: readonly string[]): string[] {
  const counts = new Map<string, number>();
  for (const line of lines) counts.set(line, (counts.get(line) ?? 0) + 1);
  return Array.from(counts, ([line, n]) => (n > 1 ? `${line} (${n} times)` : line));
}

interface SoakOptions {
  readonly minutes: number;
  readonly seeds: number | undefined;
  readonly stores: readonly ('sqlite' | 'postgres')[];
  readonly seed: number;
  readonly faults: readonly FaultKind[] | undefined;
  readonly count: number;
}

const text = { type: 'string' } as const;

/** Null if the arguments do not match the usage. */
function read(args: readonly string[]): SoakOptions | null {
  const names = ['minutes', 'seeds', 'store', 'seed', 'faults', 'count'] as const;
  const known = Object.fromEntries(names.map((name) => [name, text]));
  const { values, positionals, tokens } = parseArgs({
    args: [...args],
    options: known,
    strict: false,
    tokens: true,
  });
  const valueOf = (name: (typeof names)[number]): string | undefined => {
    const value = values[name];
    return typeof value === 'string' ? value : undefined;
  };
  const isStrange = tokens.some((token) => token.kind === 'option' && !(token.name in known));
  const minutes = Number(valueOf('minutes') ?? 5);
  const seeds = valueOf('seeds') === undefined ? undefined : Number(valueOf('seeds'));
  const seed = Number(valueOf('seed') ?? Date.now() % 1_000_000_000);
  const count = Number(valueOf('count') ?? 40);
  const stores = (['sqlite', 'postgres'] as const).filter(
    (store) => (valueOf('store') ?? store) === store,
  );
  const faults = valueOf('faults')?.split(',');
  const isNumber = [seed, count, seeds ?? 1].every((n) => Number.isInteger(n) && n >= 0);
  const isKind = (kind: string): kind is FaultKind => faultKinds.some((known) => known === kind);
  if (isStrange || positionals.length > 0 || !(minutes > 0) || !isNumber || stores.length === 0)
    return null;
  if (faults?.some((kind) => !isKind(kind))) return null;
  return { minutes, seeds, stores, seed, count, faults: faults?.filter(isKind) };
}
