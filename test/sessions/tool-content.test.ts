import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { createRedactor, toolContent, type SessionRuntime } from 'onward';
import { readTrace } from '../../src/trace/read-trace.ts';
import { readUiMessages } from '../../src/server/read-messages.ts';
import { mockTool, ScenarioStep } from 'onward/testing';
import { describe, expect, it } from 'vitest';
import { hostileSvg, largePng, png } from '../setup/content-samples.ts';
import { mortal } from '../setup/mortal-store.ts';
import {
  ann,
  builderWith,
  callIds,
  followingDriver,
  isSound,
  runtimeOn,
  sqlitePlace,
  until,
  waiting,
} from '../setup/sessions.ts';

const { toolCall, toolCalls, final } = ScenarioStep;
const image = largePng(40_000);
const parts = [
  { type: 'text', text: 'The page:' },
  { type: 'image', data: image, mediaType: 'image/png' },
  { type: 'image', data: hostileSvg, mediaType: 'image/svg+xml' },
  { type: 'image', url: 'https://example.com/a.png', mediaType: 'image/png' },
] as const;
const look = mockTool('look', () => toolContent(parts));
const resultsOf = async (runtime: SessionRuntime, id: string) =>
  (await runtime.messages(id, ann)).items.filter(({ role }) => role === 'tool');

it('keeps parts over processes: the next turn sends them, and they are stored once', async () => {
  const place = sqlitePlace();
  const driver = followingDriver([toolCall('look'), final('seen')], [final('again')]);
  const agent = builderWith(driver, look).build();
  const first = runtimeOn(place.open(), agent);
  const { id } = await first.create(ann);
  await first.send(id, 'go', waiting);
  await first.close();

  const second = runtimeOn(place.open(), agent);
  const session = await second.send(id, 'what was it?', waiting);
  expect(session).toMatchObject({ status: 'completed', output: 'again' });
  const sent = [...(driver.requests.at(-1)?.messages ?? [])].filter((m) => m.isTool());
  expect(sent.map(({ content }) => content)).toEqual([parts]);
  await isSound(second, id);

  const { items } = await second.steps(id, ann);
  expect(JSON.stringify(items)).not.toContain(image.slice(1_000, 1_100));
  expect(items[0]?.results[0]).toMatchObject({
    files: [{ mediaType: 'image/png', bytes: 40_002 }, { mediaType: 'image/svg+xml' }, {}],
  });
  const { events } = await second.events(id, ann);
  expect(JSON.stringify(events)).not.toContain(image.slice(1_000, 1_100));

  await second.close();
  const files = readdirSync(place.folder).map((name) => readFileSync(join(place.folder, name)));
  const copies = Buffer.concat(files).toString('latin1').split(image.slice(0, 60)).length - 1;
  expect(copies).toBe(1);
});

it('keeps the parts of a finished call when its process dies beside another call', async () => {
  const place = sqlitePlace();
  const calls = toolCalls([
    { name: 'look', args: {} },
    { name: 'mail', args: {} },
  ]);
  const driver = () => followingDriver([calls, final('done')]);
  const { store, die } = mortal(place.open());
  const hangs = mockTool('mail', () => new Promise(() => {}), { idempotent: true });
  const dying = runtimeOn(store, builderWith(driver(), look, hangs).build(), {
    lease: { leaseMs: 300, heartbeatMs: 100 },
  });
  const { id } = await dying.create(ann);
  await dying.send(id, 'go', ann);
  const reader = place.open();
  await until(async () => {
    const { executionId } = (await reader.find(id)) ?? {};
    const rows = await reader.calls(id, executionId ?? '', { state: 'committed' });
    return rows.some(({ tool }) => tool === 'look');
  });
  // an older release would lose the parts
  expect((await reader.find(id))?.requires).toBe(2);
  die();

  const seen = driver();
  const lookAgain = mockTool('look', 'run twice');
  const next = runtimeOn(
    place.open(),
    builderWith(seen, lookAgain, mockTool('mail', 'sent', { idempotent: true })).build(),
    { lease: { leaseMs: 300, heartbeatMs: 100 } },
  );
  next.start();
  await until(async () => (await next.get(id, ann)).status === 'completed');
  expect(lookAgain.calls).toEqual([]);
  expect((await resultsOf(next, id)).map(({ content }) => content)).toEqual([parts, 'sent']);
  await isSound(next, id);
});

it('keeps parts over an approval and a fork', async () => {
  const place = sqlitePlace();
  const calls = toolCalls([
    { name: 'look', args: {} },
    { name: 'pay', args: {} },
  ]);
  const make = () =>
    builderWith(
      followingDriver([calls, final('done')], [final('forked')]),
      look,
      mockTool('pay', 'paid', { needsApproval: true }),
    ).build();
  const first = runtimeOn(place.open(), make());
  const { id } = await first.create(ann);
  const paused = await first.send(id, 'go', waiting);
  expect(paused.status).toBe('paused');
  await first.close();

  const second = runtimeOn(place.open(), make());
  const [callId = ''] = callIds(paused);
  const done = await second.approve(id, callId, waiting);
  expect(done).toMatchObject({ status: 'completed', output: 'done' });
  const copy = await second.fork(id, ann);
  await second.send(copy.id, 'and?', waiting);
  for (const one of [id, copy.id])
    expect((await resultsOf(second, one)).map(({ content }) => content)).toEqual([parts, 'paid']);
});

describe('what users see', () => {
  const shown = [
    'The page:',
    '[Image (image/png, 40 KB)]',
    '[Image (image/svg+xml, 92 bytes)]',
    '[Image (image/png) at https://example.com/a.png]',
  ].join('\n');

  it('is text and raster images in messages, and facts in the trace', async () => {
    const agent = builderWith(followingDriver([toolCall('look'), final('seen')]), look).build();
    const runtime = runtimeOn(sqlitePlace().open(), agent);
    const { id } = await runtime.create(ann);
    await runtime.send(id, 'go', waiting);
    const { messages } = await readUiMessages(runtime, id, ann);
    const row = messages.find(({ role }) => role === 'tool');
    expect(row).toMatchObject({
      content: shown,
      metadata: {
        tool_result: shown,
        tool_files: [
          { type: 'image', media_type: 'image/png', bytes: 40_002, data: image },
          { type: 'image', media_type: 'image/svg+xml', bytes: 92 },
          { type: 'image', media_type: 'image/png', url: 'https://example.com/a.png' },
        ],
      },
    });
    expect(JSON.stringify(messages)).not.toContain(hostileSvg);
    const trace = await readTrace(runtime, id, ann);
    expect(trace.steps[0]?.bars[1]?.files).toMatchObject([
      { type: 'image', mediaType: 'image/png', bytes: 40_002 },
      { type: 'image', mediaType: 'image/svg+xml' },
      { type: 'image', url: 'https://example.com/a.png' },
    ]);
  });

  it('has secrets hidden in texts, and bytes unchanged', async () => {
    const agent = builderWith(
      followingDriver([toolCall('look'), final('seen')]),
      mockTool('look', () =>
        toolContent([
          { type: 'json', value: { password: 'CANARY' } },
          { type: 'image', data: png },
        ]),
      ),
    )
      // also matches the bytes, which it would break
      .withRedactor(createRedactor({ patterns: [/iVBOR\S*/] }))
      .build();
    const runtime = runtimeOn(sqlitePlace().open(), agent);
    const { id } = await runtime.create(ann);
    await runtime.send(id, 'go', waiting);
    const [result] = await resultsOf(runtime, id);
    expect(JSON.stringify(result)).not.toContain('CANARY');
    expect(result?.content).toMatchObject([{ type: 'text' }, { data: png }]);
  });
});
