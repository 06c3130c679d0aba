import type { AfterStep } from './agent-loop.ts';
import type { AgentState } from './agent-state.ts';
import type { Run } from './run.ts';

/** Runs the loop one step at a time: each step waits until the caller asks for the next state. */
export async function* handover(
  run: Run,
  start: (afterStep: AfterStep) => Promise<AgentState>,
): AsyncGenerator<AgentState, void, undefined> {
  let give: (state: AgentState | null) => void = () => {};
  let proceed: () => void = () => {};
  let offered = new Promise<AgentState | null>((resolve) => (give = resolve));
  let given = 0;
  const ended = start((state) => {
    given += 1;
    give(state);
    return new Promise<void>((resolve) => (proceed = resolve));
  });
  ended.then(
    () => give(null),
    () => give(null),
  );
  try {
    for (;;) {
      const state = await offered;
      if (state === null) break;
      offered = new Promise((resolve) => (give = resolve));
      yield state;
      proceed();
    }
    const last = await ended;
    // a run that ended before its first step yields its state once
    if (given === 0) yield last;
  } finally {
    run.handedOver = true;
    proceed();
    await ended.catch(() => {});
  }
}
