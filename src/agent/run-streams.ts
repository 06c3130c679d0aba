import type { AgentEvent } from '../events/agent-event.ts';
import type { AgentStream } from './agent.ts';
import type { AfterStep } from './agent-loop.ts';
import type { AgentState } from './agent-state.ts';
import type { Run, DurableOptions } from './run.ts';

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
    // a run that ended before its first step still has something to say
    if (given === 0) yield last;
  } finally {
    run.handedOver = true;
    proceed();
    await ended.catch(() => {});
  }
}

/** Turns a run into a list of events that can be read while it grows. */
export function eventStream(
  options: DurableOptions,
  start: (options: DurableOptions) => Promise<AgentState>,
): AgentStream {
  const queue: AgentEvent[] = [];
  const abort = new AbortController();
  let wake: () => void = () => {};
  let isOver = false;
  let failure: { readonly error: unknown } | null = null;
  const { signal, wiretap } = options;
  const onAbort = (): void => abort.abort(signal?.reason);
  if (signal?.aborted) onAbort();
  else signal?.addEventListener('abort', onAbort, { once: true });

  const result = start({
    ...options,
    signal: abort.signal,
    wiretap: (event) => {
      queue.push(event);
      wake();
      return wiretap?.(event); // the caller reports a rejected promise
    },
  });
  result
    .catch((error: unknown) => (failure = { error }))
    .finally(() => {
      isOver = true;
      signal?.removeEventListener('abort', onAbort);
      wake();
    });

  return {
    result,
    async *[Symbol.asyncIterator]() {
      try {
        while (queue.length > 0 || !isOver) {
          if (queue.length === 0) await new Promise<void>((resolve) => (wake = resolve));
          yield* queue.splice(0);
        }
        if (failure) throw failure.error;
      } finally {
        if (!isOver) abort.abort('the reader of the stream left');
      }
    },
  };
}
