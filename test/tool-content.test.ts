import {
  AgentBuilder,
  createRedactor,
  defineTool,
  logEvents,
  noProgressLimit,
  SlimAgentStateSerializer,
  SlimSerializationConfig,
  toolContent,
  type AgentEvent,
  type AgentState,
  type Hook,
  type ToolContentPart,
} from 'onward';
import { DeterministicDriver, mockTool, ScenarioStep } from 'onward/testing';
import { describe, expect, it } from 'vitest';
import { hostileSvg, largePng, pdf, png } from './setup/content-samples.ts';

const { toolCall, toolCalls, final } = ScenarioStep;

const page: readonly ToolContentPart[] = [
  { type: 'text', text: 'The page:' },
  { type: 'image', data: png },
  { type: 'file', data: pdf, filename: 'a.pdf' },
];
const shown =
  'The page:\n[Image (image/png, 70 bytes)]\n[File "a.pdf" (application/pdf, 34 bytes)]';
const stored = [
  { type: 'text', text: 'The page:' },
  { type: 'image', data: png, mediaType: 'image/png' },
  { type: 'file', data: pdf, mediaType: 'application/pdf', filename: 'a.pdf' },
];
const look = mockTool('look', () => toolContent(page));
const times = (state: unknown, text: string): number =>
  JSON.stringify(state).split(text).length - 1;
const toolMessages = (state: AgentState) =>
  [...state.messages].filter((message) => message.isTool());

describe('a result with parts', () => {
  it('D42: is stored once, as content of its message; the step has a text and the facts', async () => {
    const driver = DeterministicDriver.fromSteps(toolCall('look'), final('done'));
    const agent = AgentBuilder.base().withDriver(driver).withTools(look).build();
    const state = await agent.run('go');
    expect(toolMessages(state).map(({ content }) => content)).toEqual([stored]);
    const [result] = state.steps.at(0)?.results ?? [];
    expect(result).toMatchObject({
      kind: 'ok',
      value: shown,
      files: [
        { type: 'image', mediaType: 'image/png', bytes: 70 },
        { type: 'file', mediaType: 'application/pdf', filename: 'a.pdf', bytes: 34 },
      ],
    });
    expect(result).not.toHaveProperty('content');
    expect(times(state, png)).toBe(1);
    expect(driver.requests[1]?.messages.last()?.content).toEqual(stored);
    expect(state.toJSON().version).toBe(1);
  });

  it('is in no event and no log line, but its facts are', async () => {
    const lines: string[] = [];
    const log = (fields: object, message: string) =>
      void lines.push(`${message} ${JSON.stringify(fields)}`);
    const events: AgentEvent[] = [];
    const image = largePng(40_000);
    const agent = AgentBuilder.base()
      .withDriver(DeterministicDriver.fromSteps(toolCall('look'), final('done')))
      .withTools(mockTool('look', toolContent([{ type: 'image', data: image }])))
      .build();
    agent.wiretap(logEvents({ debug: log, info: log, warn: log, error: log }));
    agent.wiretap((event) => events.push(event));
    await agent.run('go');
    const completed = events.find(({ type }) => type === 'ToolCallCompleted');
    expect(completed).toMatchObject({
      success: true,
      result: '[Image (image/png, 40 KB)]',
      files: [{ type: 'image', mediaType: 'image/png', bytes: 40_002 }],
    });
    const part = image.slice(1_000, 1_100);
    expect(JSON.stringify(events)).not.toContain(part);
    expect(lines.join('\n')).toContain('[Image (image/png, 40 KB)]');
    expect(lines.join('\n')).not.toContain(part);
    expect(Math.max(...events.map((event) => JSON.stringify(event).length))).toBeLessThan(3_000);
  });

  it('is a text with the facts in the calls of a stream', async () => {
    const agent = AgentBuilder.base()
      .withDriver(DeterministicDriver.fromSteps(toolCall('look'), final('done')))
      .withTools(look)
      .build();
    const calls: unknown[] = [];
    for await (const call of agent.stream('go').toolCalls) calls.push(call);
    expect(calls).toMatchObject([
      { ok: true, tool: 'look', result: shown, files: [{ mediaType: 'image/png' }, {}] },
    ]);
  });

  it('is not cut by maxResultChars, which its texts share', async () => {
    const agent = AgentBuilder.base()
      .withDriver(DeterministicDriver.fromSteps(toolCall('look'), final('done')))
      .withTools(
        mockTool(
          'look',
          toolContent([
            { type: 'text', text: 'abcdef' },
            { type: 'image', data: png },
            { type: 'json', value: { a: 1 } },
          ]),
          { maxResultChars: 8 },
        ),
      )
      .build();
    const state = await agent.run('go');
    expect(toolMessages(state)[0]?.content).toEqual([
      { type: 'text', text: 'abcdef' },
      { type: 'image', data: png, mediaType: 'image/png' },
      { type: 'text', text: '{"' },
      { type: 'text', text: '… [cut: 8 of 13 characters shown]' },
    ]);
    expect(state.steps.at(0)?.notes).toEqual(['resultCut:call_1']);
  });

  it.each<[string, () => unknown, string]>([
    ['10 MB', () => [{ type: 'image', data: largePng(10_000_000) }], 'has 10 MB, expected at most'],
    ['a script as address', () => [{ type: 'image', url: 'javascript:alert(1)' }], 'https://'],
    [
      'a header in a media type',
      () => [{ type: 'image', data: hostileSvg, mediaType: 'image/svg+xml\r\nX: 1' }],
      'expected a type such as',
    ],
  ])('is a tool error for %s, which the model sees', async (_what, parts, expected) => {
    const show = defineTool({
      name: 'show',
      description: 'Shows.',
      execute: () => toolContent(parts() as ToolContentPart[]),
      onError: 'ignore',
    });
    const driver = DeterministicDriver.fromSteps(toolCall('show'), final('done'));
    const state = await AgentBuilder.base().withDriver(driver).withTools(show).build().run('go');
    const [result] = state.steps.at(0)?.results ?? [];
    expect(result).toMatchObject({ kind: 'error', error: { type: 'tool', code: 'tool_failed' } });
    expect(result?.value).toContain(expected);
    expect(driver.requests[1]?.messages.last()?.text).toContain(expected);
    expect(JSON.stringify(state).length).toBeLessThan(10_000);
  });

  it('is what hooks see and may return', async () => {
    const seen: unknown[] = [];
    const hook: Hook = {
      name: 'adds',
      aroundToolCall: async (call, next) => {
        const given = await next(call);
        seen.push(given);
        return toolContent([
          { type: 'text', text: 'Checked.' },
          { type: 'image', data: png },
        ]);
      },
    };
    const agent = AgentBuilder.base()
      .withDriver(DeterministicDriver.fromSteps(toolCall('look'), final('done')))
      .withTools(look)
      .withHooks(hook)
      .build();
    const state = await agent.run('go');
    expect(seen).toMatchObject([{ parts: stored }]);
    expect(state.steps.at(0)?.results[0]?.value).toBe('Checked.\n[Image (image/png, 70 bytes)]');
  });

  it('counts as progress if only an image differs', async () => {
    const run = (answers: readonly unknown[]) =>
      AgentBuilder.base()
        .withDriver(
          DeterministicDriver.fromSteps(...answers.map(() => toolCall('look')), final('done')),
        )
        .withTools(mockTool('look', answers))
        .addContinuationCriteria(noProgressLimit(3))
        .build()
        .run('go');
    const image = (mark: string) =>
      toolContent([{ type: 'image', data: largePng(3_000).replace('QUJD', mark) }]);
    const same = await run([image('AAAA'), image('AAAA'), image('AAAA')]);
    expect(same.stopReason).toBe('guard');
    const changing = await run([image('AAAA'), image('BBBB'), image('AAAA')]);
    expect(changing.stopReason).toBe('completed');
  });
});

describe('a pause after a result with parts', () => {
  const agentOf = (...steps: readonly ScenarioStep[]) => {
    const driver = DeterministicDriver.fromSteps(...steps);
    const agent = AgentBuilder.base()
      .withDriver(driver)
      .withTools(
        look,
        mockTool('guarded', () => toolContent(page), { needsApproval: true }),
      )
      .build();
    return { driver, agent };
  };
  const asking = toolCalls([
    { name: 'look', args: {} },
    { name: 'guarded', args: { n: 1 } },
  ]);

  it('keeps the parts in the JSON of the state, which older releases refuse', async () => {
    const paused = await agentOf(asking).agent.run('go');
    const json: unknown = JSON.parse(JSON.stringify(paused));
    expect(json).toMatchObject({
      version: 2,
      unfinishedStep: { results: [{ callId: 'call_1', content: stored }] },
    });
    expect(times(json, png)).toBe(1);
    const { agent, driver } = agentOf(final('done'));
    const done = await agent.resume(await agent.restore(json), {
      approvals: { call_2: { approve: true, args: { n: 2 } } },
    });
    expect(toolMessages(done).map(({ content }) => content)).toEqual([
      stored,
      [
        {
          type: 'text',
          text: '[A person changed the arguments to {"n":2} before this ran.]',
        },
        ...stored,
      ],
    ]);
    expect(driver.requests[0]?.messages.last()?.content).toHaveLength(4);
    expect(done.toJSON().version).toBe(1);
    expect(times(done, png)).toBe(2);
  });

  it('keeps them in the slim form without limits, and says what a limit takes', async () => {
    const paused = await agentOf(asking).agent.run('go');
    const full = new SlimAgentStateSerializer(SlimSerializationConfig.full());
    const document = JSON.parse(JSON.stringify(full.serialize(paused))) as object;
    expect(document).toMatchObject({ version: 2, truncated: null });
    const { agent } = agentOf(final('done'));
    const done = await agent.resume(full.deserialize(document), {
      approvals: { call_2: { deny: 'no' } },
    });
    expect(toolMessages(done)[0]?.content).toEqual(stored);
    const short = new SlimAgentStateSerializer({ maxContentLength: 20 }).serialize(paused);
    expect(JSON.stringify(short)).not.toContain(png);
    expect(short.truncated?.missing.join()).toContain('result');
  });

  it('D43: hides secrets in texts and JSON of parts, and leaves bytes as they are', async () => {
    const redactor = createRedactor({ patterns: [/CANARY\S*/, /iVBOR\S*/] });
    const secretive = mockTool('look', () =>
      toolContent([
        { type: 'text', text: 'CANARY-1' },
        { type: 'json', value: { password: 'CANARY 2' } },
        { type: 'image', data: png },
        { type: 'image', url: 'https://example.com/CANARY-3.png' },
        { type: 'file', data: pdf, filename: 'CANARY-4.pdf' },
      ]),
    );
    const events: AgentEvent[] = [];
    const agent = AgentBuilder.base()
      .withDriver(DeterministicDriver.fromSteps(asking))
      .withTools(secretive, mockTool('guarded', 'x', { needsApproval: true }))
      .withRedactor(redactor)
      .build();
    agent.wiretap((event) => events.push(event));
    const paused = await agent.run('go');
    expect(JSON.stringify(events)).not.toContain('CANARY');
    const slim = new SlimAgentStateSerializer(SlimSerializationConfig.full(), { redactor });
    const document = JSON.stringify(slim.serialize(paused));
    expect(document).not.toContain('CANARY');
    expect(document).toContain(png);
  });

  it.each<[string, unknown, string]>([
    ['no list', 'x', 'unfinishedStep.results[0].content is "x", expected a list'],
    [
      'no part',
      [{ type: 'script' }],
      'unfinishedStep.results[0].content[0] is an object with type',
    ],
  ])('refuses a document with %s as parts', async (_what, content, expected) => {
    const { agent } = agentOf(asking);
    const json = JSON.parse(JSON.stringify(await agent.run('go'))) as {
      unfinishedStep: { results: { content: unknown }[] };
    };
    json.unfinishedStep.results[0]!.content = content;
    await expect(agent.restore(json)).rejects.toThrow(expected);
  });
});

it('parts of tools of a nested agent stay with it over a pause', async () => {
  const inner = (...steps: readonly ScenarioStep[]) => {
    const driver = DeterministicDriver.fromSteps(...steps);
    const agent = AgentBuilder.base()
      .withName('inner')
      .withDriver(driver)
      .withTools(look, mockTool('guarded', 'ok', { needsApproval: true }))
      .build();
    return { driver, tool: agent.asTool({ name: 'inner', description: 'Looks.' }) };
  };
  const outer = (tool: ReturnType<typeof inner>['tool'], ...steps: readonly ScenarioStep[]) =>
    AgentBuilder.base()
      .withDriver(DeterministicDriver.fromSteps(...steps))
      .withTools(tool)
      .build();
  const calls = toolCalls([
    { name: 'look', args: {} },
    { name: 'guarded', args: {} },
  ]);
  const paused = await outer(inner(calls).tool, toolCall('inner', { input: 'look' })).run('go');
  const json: unknown = JSON.parse(JSON.stringify(paused));
  const later = inner(final('seen'));
  const agent = outer(later.tool, final('done'));
  const [waiting] = paused.pendingApprovals;
  const done = await agent.resume(await agent.restore(json), {
    approvals: { [waiting?.callId ?? '']: { approve: true } },
  });
  expect(done.output).toBe('done');
  const results = [...(later.driver.requests[0]?.messages ?? [])].filter((m) => m.isTool());
  expect(results.map(({ content }) => content)).toEqual([stored, 'ok']);
});
