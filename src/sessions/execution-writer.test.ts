import { expect, it } from 'vitest';
import { ann, builderWith, clientOn, followingDriver, gate } from '../../test/setup/sessions.ts';
import { systemClock } from '../clock.ts';
import { ScenarioStep } from '../testing/scenario-step.ts';
import { ExecutionWriter } from './execution-writer.ts';
import { RunSignals } from './run-signals.ts';
import { SessionListeners } from './session-listeners.ts';
import { SessionLookup } from './session-lookup.ts';
import type { SessionStore } from './session-store.ts';
import { memoryStore } from './stores/memory/index.ts';

/** Creates a writer for a session that was just claimed, and records the events that its listeners get. */
async function harness(faults: (own: SessionStore) => Partial<SessionStore> = () => ({})) {
  const own = memoryStore();
  const store = { ...own, ...faults(own) };
  const agents = [builderWith(followingDriver([ScenarioStep.final('done')])).build()];
  const client = clientOn(own, agents);
  const { id } = await client.create(ann);
  await client.send(id, 'go', ann);
  const row = (await own.claim(id, { worker: 'me', ttlMs: 60_000 }))!;
  const window = { maxMessages: 10, maxCharacters: 10_000 };
  const lookup = new SessionLookup({ store, agents }, systemClock, window);
  const listeners = new SessionListeners();
  const received: (number | null)[] = [];
  listeners.listen(id, ({ seq }) => received.push(seq));
  const signals = new RunSignals();
  const written = { row, executionId: 'e', isNew: true, salt: '', definition: null };
  const writer = new ExecutionWriter({ lookup, listeners }, signals, written);
  const publish = (type: 'AgentStepStarted' | 'StreamChunk'): void => {
    const base = { agentId: 'a', parentAgentId: null, executionId: 'e', index: 0, at: '2026' };
    writer.publish(
      { type, ...base, fields: { stepNumber: 1, content: 'x', offset: 0 } as never },
      () => {},
    );
  };
  return { id, store: own, client, signals, writer, publish, received };
}

it('notifies listeners of an event once it is in the log, and of chunks in order with it', async () => {
  const began = gate();
  const store = gate();
  const { publish, writer, received } = await harness((own) => ({
    async commit(commit) {
      began.open();
      await store.passed;
      return own.commit(commit);
    },
  }));
  publish('StreamChunk');
  expect(received).toEqual([null]);
  publish('AgentStepStarted');
  publish('StreamChunk');
  const written = writer.commit();
  await began.passed;
  publish('StreamChunk');
  expect(received).toEqual([null]);
  store.open();
  await written;
  expect(received).toEqual([null, 1, null]);
  await writer.commit();
  expect(received).toEqual([null, 1, null, null]);
});

it('applies a stop or pause request from the receipt of a commit, before the next poll', async () => {
  const { id, client, publish, writer, signals } = await harness();
  await client.pause(id, { ...ann, reason: 'lunch' });
  publish('AgentStepStarted');
  await writer.commit();
  expect(signals).toMatchObject({ pauseReason: 'lunch', stopReason: null });
  await client.stop(id, { ...ann, reason: 'enough' });
  publish('AgentStepStarted');
  await writer.commit();
  expect(signals.abortSignal.reason).toMatchObject({ reason: 'enough' });
});

it('writes and notifies nothing more once the run has failed', async () => {
  const { id, store, publish, writer, signals, received } = await harness();
  signals.lost(new Error('taken over'));
  publish('AgentStepStarted');
  await expect(writer.commit()).rejects.toThrow('taken over');
  expect(received).toEqual([]);
  expect(await store.events(id, 'e', { after: 0, limit: 10 })).toEqual([]);
});
