import { broadcastSessions, channelOf, memoryBroadcaster } from 'onward/broadcasting';
import { newUiState, reduceEnvelope } from 'onward/ui';
import { expect, it } from 'vitest';
import { followerOf, hasEnded, numberedIn, textIn } from '../setup/following.ts';
import { mortal } from '../setup/mortal-store.ts';
import {
  ann,
  builderWith,
  gate,
  memoryPlace,
  runtimeOn,
  until,
  type Gate,
} from '../setup/sessions.ts';

/** Creates a model that streams half of its answer, and the rest when the gate opens. */
const halting = (first: string, rest: string, hold: Gate) =>
  builderWith({
    name: 'halting',
    infer: () => Promise.reject(new Error('not streamed')),
    async *stream() {
      yield { type: 'content', text: first } as const;
      await hold.passed;
      yield { type: 'content', text: rest } as const;
      const response = { content: first + rest, toolCalls: [], finishReason: 'stop', usage: null };
      yield { type: 'done', response: { ...response, finishReason: 'stop' as const } } as const;
    },
  }).build();

it('a takeover logs that the text of the lost worker is discarded, and streams a new text', async () => {
  const place = memoryPlace();
  const never = gate();
  const hold = gate();
  const lease = { leaseMs: 200, heartbeatMs: 40 };
  const victim = mortal(place.open());
  const lost = runtimeOn(victim.store, halting('Once ', 'upon', never), { lease });
  const { id } = await lost.create(ann);
  const broadcaster = memoryBroadcaster();
  broadcastSessions(lost, { broadcaster });
  const before = followerOf(lost, id);
  await lost.send(id, 'go', ann);
  await until(() => textIn(before.seen) === 'Once ');
  victim.die();

  const heir = runtimeOn(place.open(), halting('All ', 'is well.', hold), { lease });
  broadcastSessions(heir, { broadcaster });
  const after = followerOf(heir, id);
  heir.start();
  await until(() => textIn(after.seen) === 'All ');
  const shown = () =>
    broadcaster
      .envelopes(channelOf(id))
      .reduce(reduceEnvelope, newUiState())
      .messages.filter(({ role }) => role === 'assistant')
      .map(({ content }) => content);
  // a client that has seen both shows only the new text
  await until(() => shown().join() === 'All ');
  hold.open();
  await hasEnded(after);
  const types = numberedIn(after.seen).map((line) => line.split(' ')[1]);
  expect(types.slice(0, 8)).toEqual([
    'AgentStarted',
    'MessageAdded',
    'ContinuationEvaluated',
    'AgentStepStarted',
    'StreamDiscarded',
    'AgentStarted',
    'ContinuationEvaluated',
    'AgentStepStarted',
  ]);
  const chunks = after.seen.flatMap(({ event }) => (event.type === 'StreamChunk' ? event : []));
  expect(chunks.map(({ content, restart, offset }) => [content, restart, offset])).toEqual([
    ['All ', 1, 0],
    ['is well.', 1, 4],
  ]);
  expect(shown()).toEqual(['All is well.']);
});
