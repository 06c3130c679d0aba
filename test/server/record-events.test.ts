import { ErrorPolicy, type Agent } from 'onward';
import { agentServer } from 'onward/server';
import { DeterministicDriver, mockTool, ScenarioStep } from 'onward/testing';
import { newUiState, reduceEnvelope, type UiMessage } from 'onward/ui';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Envelope } from '../../src/broadcasting/envelope.ts';
import { runtimeOn, sqlitePlace, waiting } from '../setup/sessions.ts';
import { withModels } from '../setup/fallback.ts';
import { asking, owner, type Ask } from './setup.ts';

const { toolCall, final, error } = ScenarioStep;

const overloaded = { type: 'rate_limit', code: 'overloaded', message: 'Overloaded' } as const;

/** One that is rate limited once, then falls back, and stops at its limit of two steps. */
const agentOf = (): Agent =>
  withModels([
    DeterministicDriver.create(
      [
        error({ type: 'rate_limit', code: 'rate_limit', message: 'slow down' }),
        toolCall('read', { page: 1 }, 'Reading.'),
        error(overloaded),
        error(overloaded),
      ],
      { name: 'openai:gpt-5' },
    ),
    DeterministicDriver.create([toolCall('read', { page: 2 }, 'More.'), final('Done.')], {
      name: 'anthropic:claude',
    }),
  ])
    .withTools(mockTool('read', 'found'))
    .withMaxSteps(2)
    .withErrorPolicy(ErrorPolicy.retryAll(1).withBackoff({ initialMs: 1, maxMs: 1 }))
    .build();

async function stoppedSession(): Promise<Ask> {
  const agent = agentOf();
  const runtime = runtimeOn(sqlitePlace().open(), agent);
  const server = agentServer({ runtime, owner, agents: [agent], name: 'test', rateLimit: null });
  onTestFinished(() => server.close());
  await runtime.create({ owner: 'ann', id: 's' });
  await runtime.send('s', 'Read it', waiting);
  await runtime.resume('s', { ...waiting, grant: { steps: 2 }, by: 'ann', authority: 'owner' });
  return asking(server);
}

const messagesOf = async (ask: Ask, id = 's'): Promise<readonly UiMessage[]> =>
  (await ask(`GET /api/sessions/${id}/messages?limit=500`)).body.messages;

const line = ({ role, content, metadata: { event } }: UiMessage): string =>
  event ? `${event.kind}: ${content}` : `${role}: ${content}`;

const between = [
  'user: Read it',
  'failed_call: Rate limited by the provider. Waited 1 ms and tried again (attempt 2).',
  'assistant: Reading.',
  'tool: found',
  'failed_call: The model provider was overloaded. Waited 1 ms and tried again (attempt 2).',
  'fallback: The model was overloaded. Another model continued.',
  'assistant: More.',
  'tool: found',
  'stop: Stopped because it used 2 of 2 steps before the model read a tool result.',
  'grant: You allowed 2 more steps.',
  'assistant: Done.',
];

describe('what happened between messages, from the record', () => {
  it('has a row for each stop, grant, failed call and change of the model, in order', async () => {
    const ask = await stoppedSession();
    const rows = await messagesOf(ask);
    expect(rows.map(line)).toEqual(between);
    const stop = rows.find(({ metadata }) => metadata.event?.kind === 'stop');
    expect(stop?.metadata.continuation).toMatchObject({ stop_reason: 'steps_limit' });
    expect(new Set(rows.map(({ id }) => id)).size).toBe(rows.length);
    // the rows of pages are those of the whole
    const page = (await ask('GET /api/sessions/s/messages?limit=3')).body;
    const earlier = (await ask(`GET /api/sessions/s/messages?limit=500&before=${page.before}`))
      .body;
    const both = [...earlier.messages, ...page.messages].map(line);
    expect(new Set(both)).toEqual(new Set(between));
  });

  it('is named alike live and after a reload', async () => {
    const ask = await stoppedSession();
    const refill = await ask('GET /api/sessions/s/log');
    const live = (refill.body.envelopes as Envelope[]).reduce(reduceEnvelope, newUiState());
    const ids = (rows: readonly UiMessage[], ...kinds: string[]): string[] =>
      rows
        .filter(({ metadata }) => kinds.includes(metadata.event?.kind ?? ''))
        .map(({ id, metadata }) => `${id} ${JSON.stringify(metadata.event)}`);
    const kinds = ['stop', 'grant', 'fallback'];
    expect(ids(live.messages, ...kinds)).toEqual(ids(await messagesOf(ask), ...kinds));
    expect(ids(live.messages, ...kinds)).toHaveLength(3);
  });

  it('says where a fork begins, and keeps what was before', async () => {
    const ask = await stoppedSession();
    const { body } = await ask('POST /api/sessions/s/fork', { body: { atStep: 2, id: 'f' } });
    expect(body.forkedFrom).toMatchObject({ sessionId: 's', step: 2 });
    const rows = (await messagesOf(ask, 'f')).map(line);
    expect(rows).toEqual([
      ...between.slice(0, 4),
      'fork: Forked from another session after step 2.',
    ]);
    // it accepts a message, and stays a fork
    await ask('POST /api/sessions/f/messages', { body: { content: 'And now?' } });
    const sent = await ask('GET /api/sessions/f');
    expect(sent.body.forkedFrom).toMatchObject({ sessionId: 's', step: 2 });
    expect((await ask('GET /api/sessions/s')).body.forkedFrom).toBeNull();
  });
});
