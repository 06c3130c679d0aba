import type { AgentState } from 'onward';
import { replay } from 'onward/replay';
import { afterAll, afterEach, vi } from 'vitest';
import type * as RunObservers from '../../src/agent/run-observer.ts';

/** Gaps of records that are whole for every step they have. */
const harmless: ReadonlySet<string> = new Set(['no_steps', 'unfinished']);

interface Replays {
  runs: number;
  steps: number;
  /** Runs whose records lack something, by what it is. */
  readonly incomplete: Map<string, number>;
  readonly differences: object[];
}

declare global {
  /** Shared by all files of a worker, because they share the agents' modules. */
  var replaysOfRuns: Replays | undefined;
}

const replays: Replays = (globalThis.replaysOfRuns ??= {
  runs: 0,
  steps: 0,
  incomplete: new Map(),
  differences: [],
});

vi.mock('../../src/agent/run-observer.ts', async (importOriginal) => {
  const original = await importOriginal<typeof RunObservers>();
  return {
    ...original,
    observed: async (...[run, isResumed, work]: Parameters<typeof original.observed>) => {
      const state = await original.observed(run, isResumed, work);
      replayRun(state);
      return state;
    },
    observeStop: (...[run, stop]: Parameters<typeof original.observeStop>) => {
      original.observeStop(run, stop);
      replayRun(run.state);
    },
  };
});

/** Replays a run with its own policy, and remembers what differs. */
function replayRun(state: AgentState): void {
  const { change, difference, firstDifference, steps, incomplete } = replay(state);
  replays.runs += 1;
  replays.steps += steps.length;
  const differing = steps.find(
    ({ recorded, replayed }) => reasonsOf(recorded) !== reasonsOf(replayed),
  );
  const isSame = change === 'same' && differing === undefined;
  const lacking = incomplete.filter(({ code }) => !harmless.has(code));
  for (const { code } of lacking) {
    const key = isSame ? code : `${code} (differs)`;
    replays.incomplete.set(key, (replays.incomplete.get(key) ?? 0) + 1);
  }
  if (lacking.length > 0 || isSame) return;
  const { number, recorded, replayed } = differing ?? {};
  replays.differences.push({
    change,
    difference,
    firstDifference,
    ...(differing && {
      number,
      recorded: reasonsOf(recorded),
      replayed: reasonsOf(replayed),
    }),
  });
}

const reasonsOf = (
  outcome: ReturnType<typeof replay>['steps'][number]['replayed'] | undefined,
): string =>
  (outcome?.evaluations ?? [])
    .map(({ criterion, decision, reason }) => {
      // outcomes have whole milliseconds, so tenths of seconds may be rounded otherwise
      const text = criterion.endsWith('TimeLimit') ? reason.replace(/^[\d.]+/, '…') : reason;
      return `${criterion} ${decision}: ${text}`;
    })
    .join('\n');

afterEach(() => {
  const found = replays.differences.splice(0);
  if (found.length > 0)
    throw new Error(
      `Replays with the same policy differ from their runs: ${JSON.stringify(found, null, 2)}`,
    );
});

afterAll(() => {
  const { runs, steps, incomplete } = replays;
  const lacking = [...incomplete].map(([code, count]) => `${code} ${count}`).join(', ') || 'none';
  if (runs > 0)
    process.stdout.write(`replayed: ${runs} runs, ${steps} steps; incomplete: ${lacking}\n`);
  Object.assign(replays, { runs: 0, steps: 0 });
  incomplete.clear();
});
