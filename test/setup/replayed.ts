import type { AgentState } from 'onward';
import { replay, replaySession } from 'onward/replay';
import type { SessionRuntime } from 'onward';
import { expect } from 'vitest';

/** Expects that a replay decides every recorded step as it was decided, and that the record lacks nothing for it. */
export function expectReplayed(state: AgentState): void {
  const { change, steps, incomplete } = replay(state);
  expect({ change, incomplete: codesOf(incomplete) }).toEqual({
    change: 'same',
    incomplete: [
      ...(steps.length === 0 ? ['no_steps'] : []),
      ...(state.unfinishedStep ? ['unfinished'] : []),
    ],
  });
  for (const { recorded, replayed } of steps)
    expect(replayed?.evaluations.map(({ reason }) => reason)).toEqual(
      recorded?.evaluations.map(({ reason }) => reason),
    );
}

/** The same for the newest run of an ended session. */
export async function expectSessionReplayed(
  runtime: SessionRuntime,
  id: string,
  owner: string,
): Promise<void> {
  const { change, incomplete } = await replaySession(runtime, id, { owner });
  expect({ change, incomplete: codesOf(incomplete) }).toEqual({ change: 'same', incomplete: [] });
}

const codesOf = (incomplete: ReturnType<typeof replay>['incomplete']): readonly string[] =>
  incomplete.map(({ code }) => code);
