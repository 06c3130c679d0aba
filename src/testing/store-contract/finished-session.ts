import type { AgentRow, NewSessionRow } from '../../sessions/session-rows.ts';
import type { Commit, SessionStore } from '../../sessions/session-store.ts';
import { found } from './expect.ts';
import {
  at,
  call,
  command,
  event,
  EXECUTION,
  type Held,
  message,
  type StoreHarness,
  root,
  step,
} from './store-harness.ts';

/** What the second execution of a finished session has written. */
export const later: { readonly executionId: string } = { executionId: 'exe-2' };
export const subAgent: AgentRow = {
  agentId: 'sub',
  executionId: EXECUTION,
  callId: 'a',
  head: '{}',
  messageCount: 1,
  stepCount: 1,
};

/** Creates a finished session of two executions, with rows in every table. */
export async function finished(
  harness: StoreHarness,
  last: string = at(100),
  patch: Partial<NewSessionRow> = {},
  end: Partial<NonNullable<Commit['root']>> = {},
): Promise<Held> {
  const held = await harness.held({}, patch);
  await held.commit({
    root: root({ messageCount: 2, stepCount: 2 }),
    seq: 1,
    messages: [message(0), message(1), message(0, { agentId: 'sub' })],
    steps: [step(0), step(1), step(0, { agentId: 'sub' })],
    agents: [subAgent],
    calls: [call('a', 'committed', { result: '{}' })],
    events: [event(1)],
    blobs: [
      { scope: '', hash: 'kept', body: '"kept"' },
      { scope: EXECUTION, hash: 'first', body: '"first"' },
      { scope: EXECUTION, hash: 'both', body: '"both"' },
    ],
  });
  await held.commit({
    root: root({ messageCount: 4, stepCount: 3, ...later }),
    seq: 1,
    messages: [message(2), message(3), message(0, { agentId: 'sub-2' })],
    steps: [step(2, later), step(0, { agentId: 'sub-2', ...later })],
    agents: [{ ...subAgent, ...later, agentId: 'sub-2' }],
    calls: [call('b', 'committed', { result: '{}', ...later })],
    events: [event(1, later)],
    blobs: [
      { scope: 'exe-2', hash: 'second', body: '"second"' },
      { scope: 'exe-2', hash: 'both', body: '"both"' },
    ],
  });
  const { number: done } = found(await harness.store.nextCommand(held.id), 'the command');
  await held.commit({
    root: root({ status: 'completed', messageCount: 4, stepCount: 3, ...later, ...end }),
    done,
    end: 'ended',
    at: last,
  });
  return held;
}

/** Finished sessions with something to do again: one that waits for a worker, one that has one, one that is paused. */
export async function busyAndPaused(
  harness: StoreHarness,
): Promise<{ readonly open: Held; readonly held: Held; readonly paused: Held }> {
  const again = async (): Promise<Held> => {
    const session = await finished(harness);
    await harness.store.accept(session.id, command(), { phases: ['idle'] });
    return session;
  };
  const open = await again();
  const held = await again();
  await harness.take(held.id);
  const paused = await again();
  const { commit } = await harness.take(paused.id);
  await commit({ root: root({ status: 'paused', ...later }), end: 'paused', at: at(100) });
  return { open, held, paused };
}

/** What a next turn can see of the conversation. */
export const conversation = async (store: SessionStore, id: string): Promise<object> => ({
  messages: await store.messages(id, ''),
  blobs: await store.blobs(id, ['kept']),
});
