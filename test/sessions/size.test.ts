import type { Tool } from 'onward';
import type { SessionStore } from 'onward/stores';
import { DeterministicDriver, mockTool, ScenarioStep } from 'onward/testing';
import { describe, expect, it } from 'vitest';
import {
  agentWith,
  ann,
  builderWith,
  followingDriver,
  gate,
  receiving,
  isSound,
  memoryPlace,
  places,
  runtimeOn,
  takesAnotherTurn,
  typesOf,
  until,
  waiting,
} from '../setup/sessions.ts';

const { toolCall, toolCalls, final } = ScenarioStep;
type Commit = Parameters<SessionStore['commit']>[0];

/** Wraps a store and records every commit. */
function noting(store: SessionStore): { store: SessionStore; commits: Commit[] } {
  const commits: Commit[] = [];
  const commit: SessionStore['commit'] = (given) => {
    commits.push(given);
    return store.commit(given);
  };
  return { commits, store: { ...store, commit } };
}

const bytesOf = (text: string): number => new TextEncoder().encode(text).length;
const count = (text: string, part: string): number => text.split(part).length - 1;

/** Returns every text of a session's rows, as `size` counts them. */
async function rowsOf(
  store: SessionStore,
  id: string,
  commits: readonly Commit[],
): Promise<string> {
  const row = await store.find(id);
  const written = commits.flatMap((commit) => [
    ...(commit.messages ?? []).map(({ body }) => body),
    ...(commit.steps ?? []).flatMap(({ body, mark }) => [body, mark]),
    ...(commit.agents ?? []).map(({ head }) => head),
    ...(commit.calls ?? []).map(({ result }) => result ?? ''),
    ...(commit.events ?? []).map(({ body }) => body),
  ]);
  // an existing blob is kept
  const blobs = commits.flatMap((commit) => commit.blobs ?? []);
  const kept = new Map(blobs.map(({ scope, hash, body }) => [`${scope}/${hash}`, body]));
  return [row?.head ?? '', ...written, ...kept.values()].join('\n');
}

describe('D38: the size of a step does not depend on the number of earlier steps', () => {
  it('writes the same rows and bytes after 10 and after 2,000 steps', async () => {
    const { store, commits } = noting(memoryPlace().open());
    const steps = [
      ...Array.from({ length: 2_050 }, () => toolCall('look', { q: 'x' })),
      final('done'),
    ];
    const agent = builderWith(DeterministicDriver.fromSteps(...steps), mockTool('look', 'seen'))
      .withMaxSteps(5_000)
      .build();
    const runtime = runtimeOn(store, agent, { maxMessages: 10_000 });
    const sizes: { readonly rows: number; readonly bytes: number }[] = [];
    const wanted = new Set([10, 50, 2_000, 2_040]);
    runtime.wiretap(({ event }) => {
      if (event.type !== 'AgentStateUpdated' || !wanted.has(event.stepCount)) return;
      // the memory store has it immediately
      void store.size('s').then((size) => (sizes[event.stepCount] = size));
    });
    await runtime.create({ ...ann, id: 's' });
    expect(await runtime.send('s', 'go', waiting)).toMatchObject({ stepCount: 2_051 });
    const grown = (from: number): { rows: number; bytes: number } => ({
      rows: (sizes[from + 40]!.rows - sizes[from]!.rows) / 40,
      bytes: (sizes[from + 40]!.bytes - sizes[from]!.bytes) / 40,
    });
    const [early, late] = [grown(10), grown(2_000)];
    expect(late.rows).toBe(early.rows);
    // only numbers get longer
    expect(late.bytes).toBeLessThan(early.bytes + 150);
    expect(early.bytes).toBeLessThan(5_000);
    // the commits do not grow either, including the head of the session
    const sent = (from: number): number =>
      JSON.stringify(commits.slice(from, from + 80)).length / 80;
    expect(sent(4_000)).toBeLessThan(sent(20) + 150);
  }, 30_000);
});

describe('D39, D42: equal values are stored once', () => {
  const prompt = `You are the assistant of ACME. ${'Be kind. '.repeat(200)}`;
  const description = `Finds partners. ${'Any of them. '.repeat(200)}`;

  it('stores prompt and tool schemas once, after 50 steps and three turns', async () => {
    const { store, commits } = noting(memoryPlace().open());
    const turn = [...Array.from({ length: 50 }, () => toolCall('find')), final('done')];
    const agent = builderWith(followingDriver(turn, turn, turn))
      .withTools(mockTool('find', 'found', { description }))
      .withSystemPrompt(prompt)
      .withMaxSteps(100)
      .build();
    const runtime = runtimeOn(store, agent);
    await runtime.create({ ...ann, id: 's' });
    for (let n = 0; n < 3; n++) await runtime.send('s', 'go', waiting);
    const text = await rowsOf(store, 's', commits);
    expect(count(text, 'You are the assistant of ACME.')).toBe(1);
    expect(count(text, 'Finds partners.')).toBe(1);
  });

  const words = Array.from({ length: 20_000 }, (_w, i) => `w${i}`).join(' ');
  const table = { rows: Array.from({ length: 3_000 }, (_r, i) => ({ id: i, name: `näme ${i}` })) };
  it.each<[string, unknown, string]>([
    ['text', words, 'w19999'],
    ['object', table, 'näme 2999'],
    ['list', table.rows, 'näme 2999'],
  ])(
    'stores a large tool result once, and restores it unchanged (%s)',
    async (_kind, value, part) => {
      const { store, commits } = noting(memoryPlace().open());
      const big = mockTool('big', () => value, { maxResultChars: 1_000_000 });
      const driver = followingDriver([toolCall('big'), final('done')], [final('again')]);
      const runtime = runtimeOn(store, builderWith(driver, big).build());
      const received = receiving(runtime);
      await runtime.create({ ...ann, id: 's' });
      await runtime.send('s', 'go', waiting);
      await runtime.send('s', 'more', waiting);
      expect(count(await rowsOf(store, 's', commits), part)).toBe(1);
      const text = typeof value === 'string' ? value : JSON.stringify(value);
      expect(bytesOf(text)).toBeGreaterThan(70_000);
      expect([...driver.requests[2]!.messages][2]!.text).toBe(text);
      const state = await runtime.state('s', ann);
      expect(state.messages.at(2)!.text).toBe(text);
      expect((await runtime.steps('s', ann)).items[0]!.results[0]!.value).toEqual(value);
      const [first] = new Set(received.map(({ event }) => event.executionId));
      const { events } = await runtime.events('s', { ...ann, executionId: first! });
      const completed = events
        .map(({ event }) => event)
        .find((e) => e.type === 'ToolCallCompleted');
      expect(completed).toMatchObject({ result: value });
    },
  );

  it('D42: stores an image of 2 MB once, by reference', async () => {
    const { store, commits } = noting(memoryPlace().open());
    const data = Array.from({ length: 500_000 }, (_d, i) => (i % 36).toString(36))
      .join('')
      .repeat(4);
    const driver = followingDriver([toolCall('look'), final('a cat')], [final('still a cat')]);
    const runtime = runtimeOn(store, builderWith(driver, mockTool('look')).build());
    await runtime.create({ ...ann, id: 's' });
    const image = { type: 'image', data, mediaType: 'image/png' } as const;
    const content = [{ type: 'text', text: 'What is it?' }, image] as const;
    await runtime.send('s', content, waiting);
    await runtime.send('s', 'sure?', waiting);
    const { bytes } = await store.size('s');
    expect(bytes).toBeGreaterThan(data.length);
    expect(bytes).toBeLessThan(data.length + 40_000);
    expect(commits.filter((commit) => JSON.stringify(commit).includes(data))).toHaveLength(1);
    const newest = await runtime.messages('s', ann);
    expect(newest.items).toHaveLength(newest.before === null ? 0 : 5);
    const [first] = (await runtime.messages('s', { ...ann, before: newest.before! })).items;
    expect(first!.content).toEqual(content);
    expect([...driver.requests[2]!.messages][0]!.content).toEqual(content);
  });

  it('prunes a large value that only the log has', async () => {
    const place = memoryPlace();
    const inner = builderWith(followingDriver([toolCall('big'), final('short')]))
      .withName('inner')
      .withTools(mockTool('big', words, { maxResultChars: 1_000_000 }))
      .build()
      .asTool({ name: 'ask', description: 'Asks.' });
    const driver = followingDriver([toolCall('ask', { input: 'x' }), final('a')], [final('b')]);
    const store = place.open();
    const runtime = runtimeOn(store, builderWith(driver, inner).build());
    await runtime.create({ ...ann, id: 's' });
    await runtime.send('s', 'go', waiting);
    expect((await store.size('s')).bytes).toBeGreaterThan(words.length);
    await runtime.send('s', 'more', waiting);
    await runtime.prune({ olderThan: new Date(Date.now() + 1_000) });
    expect((await store.size('s')).bytes).toBeLessThan(30_000);
    await takesAnotherTurn(place, 's');
  });
});

describe.each(places)('D40: a row that is too large for the store (%s)', (_name, makePlace) => {
  const maxBytes = 60_000;
  const huge = 'x'.repeat(100_000);
  const open = (tools: readonly Tool[], ...steps: ScenarioStep[]) => {
    const place = makePlace({ maxBytes });
    const runtime = runtimeOn(place.open(), agentWith(steps, ...tools));
    return { place, runtime, received: receiving(runtime) };
  };

  const result = mockTool('big', huge, { maxResultChars: 1_000_000 });
  const pay = mockTool('pay', 'paid', { needsApproval: true });
  const look = mockTool('look', 'seen');
  const cases: Record<string, [Tool[], ScenarioStep]> = {
    'a tool result': [[result], toolCall('big')],
    'a tool result beside other results': [
      [result, look],
      toolCalls([{ name: 'look' }, { name: 'big' }]),
    ],
    'an answer': [[], final(huge)],
    'arguments of a call': [[look], toolCall('look', { text: huge })],
    'a call that waits for approval': [[pay], toolCall('pay', { text: huge })],
    'a result beside a call that waits': [
      [result, pay],
      toolCalls([{ name: 'big' }, { name: 'pay' }]),
    ],
  };

  it.each(Object.entries(cases))(
    '%s: the run fails with the reason, and nothing is partly written',
    async (_what, [tools, step]) => {
      const { place, runtime, received } = open(
        [...tools, mockTool('before')],
        toolCall('before'),
        step,
      );
      await runtime.create({ ...ann, id: 's' });
      const session = await runtime.send('s', 'go', waiting);
      expect(session).toMatchObject({
        status: 'failed',
        stopReason: 'error',
        pendingApprovals: [],
      });
      expect(session.outcome!.decisive).toMatchObject({
        criterion: 'SessionRuntime',
        decision: 'forbid',
      });
      expect(session.outcome!.decisive!.reason).toMatch(
        /has \d+ bytes, but the store accepts at most 60000 per row/,
      );
      // no event reports a pause or an end that did not happen
      const types = typesOf(received);
      expect(types).not.toContain('ToolApprovalRequested');
      expect(types).not.toContain('AgentPaused');
      expect(types).not.toContain('AgentFinished');
      expect(types.at(-1)).toBe('AgentFailed');
      expect(types.filter((type) => type === 'AgentFailed')).toHaveLength(1);
      await isSound(runtime, 's');
      expect(received.flatMap(({ seq }) => seq ?? [])).toEqual(
        (await runtime.events('s', ann)).events.map(({ seq }) => seq),
      );
      // the previous step is stored, and the conversation continues
      const steps = (await runtime.steps('s', ann)).items;
      expect(steps[0]).toMatchObject({ number: 1, results: [{ value: 'ok' }] });
      const rows = await place.open().messages('s', '');
      expect(rows).toHaveLength(session.messageCount);
      expect(pay.calls).toEqual([]);
      await takesAnotherTurn(place, 's');
    },
  );

  it('keeps the results of parallel calls, and a note in place of the large one', async () => {
    const { runtime } = open([result, look], toolCalls([{ name: 'look' }, { name: 'big' }]));
    await runtime.create({ ...ann, id: 's' });
    await runtime.send('s', 'go', waiting);
    const tools = (await runtime.messages('s', ann)).items.filter(({ role }) => role === 'tool');
    expect(tools.map(({ content }) => content)).toEqual([
      'seen',
      'The tool ran, but its result was too large to store.',
    ]);
  });

  it('send rejects a message that is too large, and stores nothing', async () => {
    const { place, runtime } = open([]);
    await runtime.create({ ...ann, id: 's' });
    const before = await place.open().size('s');
    await expect(runtime.send('s', huge, ann)).rejects.toMatchObject({ code: 'state_too_large' });
    expect(await place.open().size('s')).toEqual(before);
    expect((await runtime.get('s', ann)).status).toBe('pending');
    await takesAnotherTurn(place, 's');
  });

  it('a log entry that is too large is shortened, and the run continues', async () => {
    const words = 'y'.repeat(20_000);
    const tool = mockTool('look', { a: [words.slice(0, 8_000), words.slice(0, 8_000)] });
    const calls = Array.from({ length: 4 }, () => ({
      name: 'look',
      args: { text: words.slice(0, 7_000) },
    }));
    const { place, runtime } = open([tool], toolCalls(calls), final('done'));
    await runtime.create({ ...ann, id: 's' });
    expect(await runtime.send('s', 'go', waiting)).toMatchObject({ output: 'done' });
    await isSound(runtime, 's');
    await takesAnotherTurn(place, 's');
  });
});

describe.each(places)('D44: delete leaves nothing behind (%s)', (_name, makePlace) => {
  it('after turns, a pause and a large value', async () => {
    const place = makePlace();
    const big = mockTool('big', 'z'.repeat(40_000));
    const pay = mockTool('pay', 'paid', { needsApproval: true });
    const driver = followingDriver([toolCall('big'), final('done')], [toolCall('pay')]);
    const runtime = runtimeOn(place.open(), builderWith(driver, big, pay).build());
    await runtime.create({ ...ann, id: 's' });
    await runtime.send('s', 'go', waiting);
    await runtime.send('s', 'more', waiting);
    const store = place.open();
    expect((await store.size('s')).rows).toBeGreaterThan(10);
    await runtime.delete('s', ann);
    expect(await store.size('s')).toEqual({ rows: 0, bytes: 0 });
    await expect(runtime.get('s', ann)).rejects.toMatchObject({ code: 'session_not_found' });
    await expect(runtime.delete('s', ann)).rejects.toMatchObject({ code: 'session_not_found' });
  });

  it('while it runs: the run ends, and writes nothing more', async () => {
    const place = makePlace();
    const opened = gate();
    const seen: AbortSignal[] = [];
    const slow = mockTool('slow', (_args: unknown, { signal }: { signal: AbortSignal }) => {
      seen.push(signal);
      return opened.passed.then(() => 'ok');
    });
    const driver = followingDriver([toolCall('slow'), final('done')]);
    const runtime = runtimeOn(place.open(), builderWith(driver, slow).build(), {
      lease: { leaseMs: 1_000, heartbeatMs: 50, signalMs: 20 },
    });
    const received = receiving(runtime);
    await runtime.create({ ...ann, id: 's' });
    await runtime.send('s', 'go', ann);
    const waits = runtime.send('s', 'later', { ...waiting, whenBusy: 'queue' });
    await until(() => received.some(({ event }) => event.type === 'ToolCallStarted'));
    const reported = received.length;
    const gone = expect(waits).rejects.toMatchObject({ code: 'session_not_found' });
    await runtime.delete('s', ann);
    await gone;
    await until(() => seen[0]?.aborted);
    opened.open();
    await runtime.close();
    const store = place.open();
    expect(await store.size('s')).toEqual({ rows: 0, bytes: 0 });
    expect(await store.recoverable({ agents: [{ agent: 'support' }], limit: 10 })).toMatchObject([
      { ids: [] },
    ]);
    expect(received.slice(reported)).toEqual([]);
  });

  it('a new session under the old id shares nothing with it', async () => {
    const place = makePlace();
    const runtime = runtimeOn(place.open(), agentWith([final('one'), final('two')]));
    await runtime.create({ ...ann, id: 's', metadata: { old: true } });
    await runtime.send('s', 'go', waiting);
    await runtime.delete('s', ann);
    await runtime.create({ ...ann, id: 's' });
    expect(await runtime.get('s', ann)).toMatchObject({
      status: 'pending',
      messageCount: 0,
      metadata: {},
    });
    expect((await runtime.send('s', 'again', waiting)).messageCount).toBe(2);
  });
});
