import { describeEvent, ErrorPolicy, type SessionRuntime } from 'onward';
import {
  BroadcastConfig,
  readRef,
  readRefill,
  type TruncatedValue,
  type Envelope,
  type Refill,
} from 'onward/broadcasting';
import { mockTool, ScenarioStep } from 'onward/testing';
import { describe, expect, it } from 'vitest';
import {
  agentWith,
  ann,
  builderWith,
  callIds,
  followingDriver,
  memoryPlace,
  places,
  refusal,
  runtimeOn,
  waiting,
} from '../setup/sessions.ts';
import { isUnbroken, ofType, plain, presets } from './live-run.ts';

const { toolCall, final } = ScenarioStep;

async function played(runtime: SessionRuntime, text = 'go') {
  const { id } = await runtime.create(ann);
  await runtime.send(id, text, waiting);
  return id;
}

describe.each(places)('refill (%s)', (_name, makePlace) => {
  it('returns the same envelopes in pages of any size, with an unbroken chain of `prev`', async () => {
    const steps = [1, 2, 3].map((n) => toolCall('look', { n }, `Step ${n}.`));
    const runtime = runtimeOn(
      makePlace().open(),
      agentWith([...steps, final('done')], mockTool('look')),
    );
    const id = await played(runtime);
    for (const preset of presets) {
      const config = BroadcastConfig[preset]();
      const whole = await readRefill(runtime, id, { ...ann, config });
      isUnbroken(whole.envelopes);
      const { seq } = await runtime.events(id, ann);
      expect(whole).toMatchObject({ seq, more: false });
      for (const limit of [1, 3, 7, 100]) {
        const read: Envelope[] = [];
        let page: Refill | null = null;
        // a page without envelopes still has its position
        let after = 0;
        do {
          page = await readRefill(runtime, id, { ...ann, config, after, limit });
          isUnbroken(page.envelopes, after);
          read.push(...page.envelopes);
          expect(page.seq).toBe(Math.min(after + limit, seq));
          after = page.seq;
        } while (page.more);
        expect(read.map(({ seq: n }) => n)).toEqual(whole.envelopes.map(({ seq: n }) => n));
        expect(after).toBe(seq);
      }
      expect(await readRefill(runtime, id, { ...ann, config, after: seq })).toMatchObject({
        envelopes: [],
        seq,
        more: false,
      });
    }
  });

  it('returns an empty last page for a new session, an unknown execution and a pruned log', async () => {
    const runtime = runtimeOn(makePlace().open(), agentWith([final('done')]));
    const { id } = await runtime.create(ann);
    const empty = { session_id: id, envelopes: [], more: false };
    expect(await readRefill(runtime, id, ann)).toEqual({ ...empty, execution_id: null, seq: 0 });
    await runtime.send(id, 'go', waiting);
    const { seq } = await runtime.events(id, ann);
    const unknown = await readRefill(runtime, id, { ...ann, executionId: 'no such' });
    expect(unknown).toEqual({ ...empty, execution_id: 'no such', seq: 0 });
    await runtime.prune({ olderThan: new Date(Date.now() + 60_000) });
    const pruned = await readRefill(runtime, id, ann);
    expect(pruned).toMatchObject({ ...empty, seq });
  });

  it('refuses another owner and an invalid position', async () => {
    const runtime = runtimeOn(makePlace().open(), agentWith([final('done')]));
    const id = await played(runtime);
    const bob = { owner: 'bob' };
    expect((await refusal(() => readRefill(runtime, id, bob))).code).toBe('session_not_found');
    expect((await refusal(() => readRef(runtime, id, '2.content.e', bob))).code).toBe(
      'session_not_found',
    );
    expect((await refusal(() => readRefill(runtime, id, { ...ann, after: -1 }))).code).toBe(
      'invalid_option',
    );
  });
});

describe.each(places)('readRef (%s)', (_name, makePlace) => {
  const big = { rows: Array.from({ length: 800 }, (_r, i) => ({ i, text: `row ${i} 😀` })) };
  const args = { note: 'argument '.repeat(2_000) };
  const question = 'question '.repeat(2_000);
  const answer = 'answer '.repeat(2_000);

  async function cuts() {
    const driver = followingDriver([
      toolCall('read', args, 'thinking '.repeat(2_000)),
      toolCall('pay', args),
      final(answer),
    ]);
    const tools = [mockTool('read', big), mockTool('pay', 'ok', { needsApproval: true })];
    const agent = builderWith(driver, ...tools)
      .withErrorPolicy(ErrorPolicy.retryAll())
      .build();
    const runtime = runtimeOn(makePlace().open(), agent);
    const { id } = await runtime.create(ann);
    // an id may contain any character
    const executionId = 'run 7/ö.content.3';
    const paused = await runtime.send(id, question, { ...waiting, executionId });
    await runtime.approve(id, callIds(paused)[0]!, waiting);
    const config = BroadcastConfig.debug({ frameBytes: 1_800 });
    const { envelopes } = await readRefill(runtime, id, { ...ann, config });
    const read = (cut: unknown) => readRef(runtime, id, (cut as TruncatedValue).ref, ann);
    return { runtime, id, envelopes, read, executionId };
  }

  it('returns the whole value from the log', async () => {
    const { runtime, id, envelopes, read } = await cuts();
    const [asked, thought, answered] = ofType(envelopes, 'agent.message');
    expect(await read(asked!.payload.content)).toBe(question);
    expect(await read(thought!.payload.content)).toBe('thinking '.repeat(2_000));
    expect(await read(answered!.payload.content)).toBe(answer);
    const [started] = ofType(envelopes, 'agent.tool.started');
    expect(await read(started!.payload.args)).toEqual(args);
    const [completed] = ofType(envelopes, 'agent.tool.completed');
    expect(await read(completed!.payload.result_summary)).toEqual(big);
    const [approval] = ofType(envelopes, 'agent.approval.requested');
    expect(await read(approval!.payload.args)).toEqual(args);
    const last = ofType(envelopes, 'agent.status').at(-1)!;
    expect(await read(last.payload.last_response)).toBe(answer);
    const judged = ofType(envelopes, 'agent.continuation').at(-1)!;
    const whole = plain(await read(judged.payload.evaluations)) as unknown[];
    const roomy = BroadcastConfig.debug({ frameBytes: 100_000 });
    const uncut = (await readRefill(runtime, id, { ...ann, config: roomy })).envelopes;
    expect(whole).toEqual(plain(ofType(uncut, 'agent.continuation').at(-1)!.payload.evaluations));
  });

  it('returns a value that starts with its summary', async () => {
    const { envelopes } = await cuts();
    const { summary } = ofType(envelopes, 'agent.message')[0]!.payload.content as TruncatedValue;
    expect(summary.endsWith('…')).toBe(true);
    expect(question.startsWith(summary.slice(0, -1))).toBe(true);
    expect(summary.length).toBeGreaterThan(800);
    const evaluations = ofType(envelopes, 'agent.continuation').at(-1)!.payload
      .evaluations as TruncatedValue;
    expect(evaluations.summary).toMatch(/^StepsLimit allow: 3 of 20 steps\n/);
  });

  it('refuses an invalid ref and a ref of another field with a code', async () => {
    const { runtime, id, envelopes, executionId } = await cuts();
    const { seq } = ofType(envelopes, 'agent.message')[0]!;
    for (const [ref, code] of [
      ['', 'invalid_option'],
      ['content', 'invalid_option'],
      [`${seq}.content.`, 'invalid_option'],
      [`-1.content.${executionId}`, 'invalid_option'],
      [`${seq}.password.${executionId}`, 'invalid_option'],
      [`${seq}.constructor.${executionId}`, 'invalid_option'],
      [`${seq}.toString.${executionId}`, 'invalid_option'],
      [7, 'invalid_option'],
      [`${seq}.result.${executionId}`, 'ref_not_found'],
      [`${seq}.content.another`, 'ref_not_found'],
      [`999.content.${executionId}`, 'ref_not_found'],
      [`0.content.${executionId}`, 'invalid_option'],
    ] as const) {
      const error = await refusal(() => readRef(runtime, id, ref as string, ann));
      expect([ref, error.code]).toEqual([ref, code]);
    }
  });

  it('does not find a ref in another session of the same owner', async () => {
    const { runtime, envelopes } = await cuts();
    const other = await runtime.create(ann);
    const { ref } = ofType(envelopes, 'agent.message')[0]!.payload.content as TruncatedValue;
    const error = await refusal(() => readRef(runtime, other.id, ref, ann));
    expect(error).toMatchObject({ code: 'ref_not_found', details: { sessionId: other.id } });
  });
});

it('reads an old log without newer fields', async () => {
  const store = memoryPlace().open();
  const runtime = runtimeOn(store, agentWith([final('done')]));
  const id = await played(runtime);
  const events: typeof store.events = async (...query) =>
    (await store.events(...query)).map((row) => ({
      ...row,
      body: row.body.replaceAll(/,?"(?:previousStatus|outputText|stepCount)":(?:"[^"]*"|\d+)/g, ''),
    }));
  const old = runtimeOn({ ...store, events }, agentWith([]));
  const { envelopes } = await readRefill(old, id, ann);
  expect(ofType(envelopes, 'agent.status').map(({ payload }) => payload)).toMatchObject([
    { status: 'processing', previous_status: 'idle', step_count: 0 },
    { status: 'completed', last_response: null },
  ]);
});

it('names the tool and the call of an event that was too large for the log', async () => {
  const store = memoryPlace({ maxBytes: 60_000 }).open();
  const huge = 'x'.repeat(100_000);
  const agent = agentWith([toolCall('look', { text: huge, page: 1 })], mockTool('look'));
  const runtime = runtimeOn(store, agent);
  const { id } = await runtime.create(ann);
  expect(await runtime.send(id, 'go', { ...ann, wait: true })).toMatchObject({ status: 'failed' });
  const { events } = await runtime.events(id, ann);
  const started = events.find(({ event }) => event.type === 'ToolCallStarted')!.event;
  expect(started).toMatchObject({ tool: 'look', args: { omitted: 'too large for the log' } });
  for (const { event } of events) expect(describeEvent(event)).toMatch(/^Agent /);
  const config = BroadcastConfig.debug();
  const { envelopes } = await readRefill(runtime, id, { ...ann, config });
  const [end] = ofType(envelopes, 'agent.status').slice(-1);
  expect(end!.payload).toMatchObject({ status: 'failed', resolved_by: 'SessionRuntime' });
  const [call] = ofType(envelopes, 'agent.tool.started');
  expect(call!.payload).toMatchObject({
    tool: 'look',
    tool_call_id: expect.any(String),
    args_summary: '{"omitted":"too large for the log"}',
  });
});
