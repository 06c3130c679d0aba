import { toolContent } from 'onward';
import { BroadcastConfig } from 'onward/broadcasting';
import { toUseChatMessages } from 'onward/broadcasting/use-chat';
import { mockTool, ScenarioStep } from 'onward/testing';
import { newUiState, reconcile, reduceEnvelope, type UiMessage, type UiState } from 'onward/ui';
import { describe, expect, it } from 'vitest';
import type { Envelope } from '../../src/broadcasting/envelope.ts';
import { readRefill } from '../../src/broadcasting/refill.ts';
import { readUiMessages } from '../../src/server/read-messages.ts';
import { hostileSvg, largePng, png } from '../setup/content-samples.ts';
import {
  ann,
  builderWith,
  followingDriver,
  memoryPlace,
  runtimeOn,
  waiting,
} from '../setup/sessions.ts';
import { Wire } from './wire.ts';
import { reduceAll } from './shown.ts';

const { toolCall, final } = ScenarioStep;
const image = largePng(40_000);
const files = [
  { type: 'image', media_type: 'image/png', bytes: 40_002 },
  { type: 'image', media_type: 'image/svg+xml', bytes: 92 },
  { type: 'file', media_type: 'text/csv', filename: 'a.csv', bytes: 3 },
  { type: 'image', media_type: 'image/png', url: 'https://example.com/a.png' },
] as const;
const look = mockTool('look', () =>
  toolContent([
    { type: 'image', data: image },
    { type: 'image', data: hostileSvg, mediaType: 'image/svg+xml' },
    { type: 'file', data: btoa('a,b'), filename: 'a.csv' },
    { type: 'image', url: 'https://example.com/a.png' },
  ]),
);
const toolRow = ({ messages }: Pick<UiState, 'messages'>): UiMessage | undefined =>
  messages.find(({ role }) => role === 'tool');

async function ran() {
  const agent = builderWith(followingDriver([toolCall('look'), final('seen')]), look).build();
  const runtime = runtimeOn(memoryPlace().open(), agent);
  const { id } = await runtime.create(ann);
  await runtime.send(id, 'go', waiting);
  const { envelopes } = await readRefill(runtime, id, { ...ann, config: BroadcastConfig.debug() });
  return { runtime, id, envelopes };
}

describe('images and files of a result', () => {
  it('are described live, and shown when the conversation is read', async () => {
    const { runtime, id, envelopes } = await ran();
    expect(Math.max(...envelopes.map((one) => JSON.stringify(one).length))).toBeLessThan(10_000);
    const live = envelopes.reduce<UiState>(reduceEnvelope, newUiState());
    expect(toolRow(live)?.metadata.tool_files).toEqual(files);
    const { messages } = await readUiMessages(runtime, id, ann);
    const known = reconcile(live, messages);
    expect(toolRow(known)?.metadata.tool_files).toEqual([
      { ...files[0], data: image },
      ...files.slice(1),
    ]);
    expect(toolRow(known)?.content).toBe(toolRow(live)?.content);
    // what is read first is not lost by what arrives later
    const late = envelopes.reduce<UiState>(reduceEnvelope, reconcile(newUiState(), messages));
    expect(toolRow(late)?.metadata.tool_files?.[0]).toEqual({ ...files[0], data: image });
  });

  it('are text for useChat, the same from the stream and from the conversation', async () => {
    const { runtime, id } = await ran();
    const { items } = await runtime.messages(id, ann);
    const { items: steps } = await runtime.steps(id, ann);
    const [plain, exact] = [toUseChatMessages(items), toUseChatMessages(items, { steps })];
    const { events } = await runtime.events(id, ann);
    const completed = events.map(({ event }) => event).find((e) => e.type === 'ToolCallCompleted');
    expect(exact).toEqual(plain);
    expect(plain[1]?.parts[1]).toMatchObject({
      state: 'output-available',
      output: completed?.result,
    });
    expect(JSON.stringify(plain)).not.toContain(image.slice(1_000, 1_100));
  });

  it.each<[string, unknown]>([
    ['no list', { type: 'image' }],
    ['an unknown type', [{ type: 'script' }]],
    ['a name that is no text', [{ type: 'file', filename: { toString: 'x' } }]],
    ['too many', Array.from({ length: 100 }, () => ({ type: 'image' }))],
    ['keys of prototypes', [JSON.parse('{"__proto__":{"type":"image"}}') as unknown]],
  ])('are not shown if the server sends %s', (_what, sent) => {
    const wire = new Wire().begin();
    wire.step(1);
    wire.toolStarted('c1');
    const done = wire.toolDone('c1') as { payload: Record<string, unknown> };
    done.payload['files'] = sent;
    const state = reduceAll(wire.all);
    expect(toolRow(state)?.metadata.tool_files).toBeUndefined();
    expect(toolRow(state)?.content).toBe('{"pieces":7}');
    const row = { ...toolRow(state)!, metadata: { tool_call_id: 'c1', tool_files: sent } };
    const read = reconcile(newUiState(), [row as unknown as UiMessage]);
    expect(toolRow(read)?.metadata.tool_files).toBeUndefined();
  });
});

it('an envelope with many long addresses fits its frame', async () => {
  const many = mockTool('look', () =>
    toolContent([
      { type: 'image', data: png },
      ...Array.from({ length: 31 }, (_, i) => ({
        type: 'image' as const,
        url: `https://example.com/${i}/${'a'.repeat(4_000)}`,
      })),
    ]),
  );
  const agent = builderWith(followingDriver([toolCall('look'), final('seen')]), many).build();
  const runtime = runtimeOn(memoryPlace().open(), agent);
  const { id } = await runtime.create(ann);
  await runtime.send(id, 'go', waiting);
  const config = BroadcastConfig.standard();
  const { envelopes } = await readRefill(runtime, id, { ...ann, config });
  const isDone = (one: Envelope) => one.type === 'agent.tool.completed';
  const done = envelopes.find(isDone) as Extract<Envelope, { type: 'agent.tool.completed' }>;
  expect(JSON.stringify(done).length).toBeLessThan(config.frameBytes);
  expect(done.payload.files?.[0]).toMatchObject({ media_type: 'image/png' });
  expect(done.payload.result_summary).toMatchObject({ ref: expect.any(String) as string });
});
