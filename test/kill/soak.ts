import { parseArgs } from 'node:util';
import { startPostgres } from '../setup/postgres.ts';
import { campaignLine } from './campaign-line.ts';
import { killCampaign, type CampaignOptions } from './kill-run.ts';
import { bundleWorker } from './worker-bundle.ts';

const usage = 'npm run soak -- --minutes N [--store sqlite|postgres] [--seed N]';

/** Campaign after campaign, each with a seed of its own; one line each, and one that adds them up. */
export async function soak(args: readonly string[]): Promise<number> {
  const { minutes, store, seed } = read(args);
  const kinds = store === undefined ? (['sqlite', 'postgres'] as const) : [store];
  const worker = await bundleWorker();
  const server = kinds.includes('postgres') ? await startPostgres() : null;
  const until = performance.now() + minutes * 60_000;
  const total = { campaigns: 0, sessions: 0, executions: 0, kills: 0, deploys: 0, freezes: 0 };
  const counts = { steps: 0, toolRuns: 0, unknownFates: 0, begunAgain: 0, violations: 0 };
  try {
    for (let i = 0; i === 0 || performance.now() < until; i++) {
      const kind = kinds[i % kinds.length] ?? 'sqlite';
      const at: CampaignOptions['store'] =
        kind === 'postgres' ? { kind, url: server?.url ?? '' } : { kind };
      const report = await killCampaign({
        store: at,
        seed: seed + i,
        workerFile: worker.file,
        // few and many, so that workers have little and much in hand when they die
        sessions: [8, 24, 60][i % 3] ?? 24,
        turns: [6, 3, 2][i % 3] ?? 3,
        kills: 40,
        workers: 2 + (i % 3),
        maxMs: 120_000,
        keep: true,
      });
      total.campaigns += 1;
      for (const key of ['sessions', 'executions', 'kills', 'deploys', 'freezes'] as const)
        total[key] += report[key];
      for (const key of ['steps', 'toolRuns', 'unknownFates', 'begunAgain'] as const)
        counts[key] += report[key];
      counts.violations += report.violations.length;
      console.log(`${kind}: ${campaignLine(report)}`);
      for (const violation of report.violations) console.log(`  ${violation}`);
      if (report.kept !== null) console.log(`  left for you to look at: ${report.kept}`);
    }
  } finally {
    worker.remove();
    await server?.stop();
  }
  console.log(JSON.stringify({ soak: 'kill', minutes, ...total, ...counts }));
  return counts.violations === 0 ? 0 : 1;
}

function read(args: readonly string[]): {
  readonly minutes: number;
  readonly store: 'sqlite' | 'postgres' | undefined;
  readonly seed: number;
} {
  const options = { minutes: text, store: text, seed: text };
  const { values } = parseArgs({ args: [...args], options });
  const minutes = Number(values.minutes ?? 5);
  const seed = Number(values.seed ?? Date.now() % 1_000_000_000);
  const { store } = values;
  const isStore = store === undefined || store === 'sqlite' || store === 'postgres';
  if (!(minutes > 0) || !Number.isInteger(seed) || !isStore) throw new Error(`Usage: ${usage}`);
  return { minutes, store, seed };
}

const text = { type: 'string' } as const;
