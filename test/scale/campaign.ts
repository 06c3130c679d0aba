import { parseArgs } from 'node:util';
import { bundleProgram } from '../setup/bundle-program.ts';
import { startPostgres } from '../setup/postgres.ts';
import { hasRedis, startRedis } from '../setup/redis.ts';
import { scaleFaultKinds, type ScaleFaultKind } from './scale-faults.ts';
import { scaleCampaign, scaleLine, type ScaleOptions } from './scale-campaign.ts';

const usage =
  'npm run campaign:scale -- [--seeds N] [--seed N] [--sessions N] [--workers N] [--faults N] [--lease MS] [--pause MS]\n' +
  `  [--kinds kind,kind], of: ${scaleFaultKinds.join(', ')}\n` +
  'With --faults 0 nothing is killed, and the shares of the workers are checked.';

/** How far the share of a worker may be from the mean. */
const BALANCE = 0.3;
const BEYOND_LEASE_MS = 2_000;

type Variant = Pick<ScaleOptions, 'bus' | 'queue'>;
const variants: readonly Variant[] = [
  { bus: 'postgres', queue: 'postgres' },
  ...(hasRedis ? [{ bus: 'redis', queue: 'redis' } as const] : []),
  { bus: 'postgres', queue: null },
];

/** The bus and the queue of a seed: all kinds in turn. */
export const variantOf = (seed: number): Variant =>
  variants[seed % variants.length] ?? { bus: 'postgres', queue: null };

/** Whether each worker began its share of the sessions. */
export const isBalanced = (begun: readonly number[]): boolean => {
  const mean = begun.reduce((sum, count) => sum + count, 0) / begun.length;
  return begun.every((count) => Math.abs(count - mean) <= BALANCE * mean);
};

/** Runs campaigns with different seeds, and prints one line each. */
export async function campaign(args: readonly string[]): Promise<number> {
  const numbers = read(args);
  if (!numbers) {
    console.log(`Usage: ${usage}`);
    return args.includes('--help') ? 0 : 2;
  }
  const { seeds, seed: first, sessions, workers, faults, lease: leaseMs, pause: pauseMs } = numbers;
  const { kinds } = numbers;
  const worker = await bundleProgram('test/kill/kill-worker.ts');
  const postgres = await startPostgres();
  const redis = hasRedis ? await startRedis() : null;
  let failed = 0;
  try {
    for (let seed = first; seed < first + seeds; seed++) {
      const variant = variantOf(seed);
      const isCalm = faults === 0;
      const report = await scaleCampaign({
        ...variant,
        postgres,
        redis,
        workerFile: worker.file,
        seed,
        sessions,
        turns: isCalm ? 1 : 2,
        pauseMs: isCalm ? 0 : pauseMs,
        pace: 10,
        workers,
        // where a worker has capacity for all, the first one may take them
        concurrency: isCalm ? 10 : sessions,
        faults,
        kinds,
        leaseMs,
      });
      const problems = [...report.violations];
      const beyond = report.longestBeyondLease ?? 0;
      if (beyond > BEYOND_LEASE_MS)
        problems.push(`a session of a killed worker waited ${beyond} ms beyond the lease`);
      if (isCalm && variant.queue && !isBalanced(report.begun))
        problems.push(
          `sessions by worker are not within 30 % of their mean: ${report.begun.join(' ')}`,
        );
      failed += Number(problems.length > 0);
      console.log(
        `${variant.bus} bus, ${variant.queue ?? 'no'} queue: ${scaleLine(report, leaseMs)}`,
      );
      for (const line of problems) console.log(`  ${line}`);
      if (problems.length > 0) for (const line of report.schedule) console.log(`    ${line}`);
    }
  } finally {
    worker.remove();
    await redis?.stop();
    await postgres.stop();
  }
  console.log(JSON.stringify({ campaign: 'scale', seeds, sessions, workers, failed }));
  return failed === 0 ? 0 : 1;
}

const defaults = {
  seeds: 1,
  seed: 0,
  sessions: 500,
  workers: 4,
  faults: 5,
  lease: 3_000,
  pause: 30_000,
};

type CampaignNumbers = typeof defaults & { readonly kinds: readonly ScaleFaultKind[] };

/** Null if the arguments do not match the usage. */
function read(args: readonly string[]): CampaignNumbers | null {
  const names = [...Object.keys(defaults), 'kinds'];
  const known = Object.fromEntries(names.map((name) => [name, { type: 'string' } as const]));
  try {
    const { values: all } = parseArgs({ args: [...args], options: known });
    const { kinds: named, ...values } = all;
    const kinds = scaleFaultKinds.filter((kind) => named?.split(',').includes(kind) ?? true);
    const given = Object.entries(values).map(([name, value]) => [name, Number(value)] as const);
    if (given.some(([, value]) => !Number.isInteger(value) || value < 0)) return null;
    return { ...defaults, ...Object.fromEntries(given), kinds };
  } catch {
    return null;
  }
}
