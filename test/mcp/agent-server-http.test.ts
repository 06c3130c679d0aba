import { createAgent, ErrorPolicy } from 'onward';
import { mcp } from 'onward/mcp';
import { DeterministicDriver, ScenarioStep } from 'onward/testing';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { agentsOverHttp as setup, generations, ofAnn, remove } from '../setup/mcp-agent-server.ts';
import { until } from '../setup/sessions.ts';

vi.setConfig({ testTimeout: 60_000 });

describe.each(generations)('agents as tools for clients of the %s generation', (generation) => {
  it('lists agents, answers, and continues a conversation by its session', async () => {
    const { client } = await setup();
    const { client: raw, call } = await client('a', { generation });
    const { tools } = await raw.listTools();
    expect(tools.map(({ name, title }) => [name, title])).toEqual([
      ['support', 'support'],
      ['the_invoice', 'the invoice'],
    ]);
    const first = await call('support', { message: 'hello' });
    expect(first).toMatchObject({ value: { status: 'completed', output: '1: hello' } });
    expect(JSON.parse(first.text)).toEqual(first.value);
    const { sessionId } = first.value;
    const second = await call('support', { message: 'again', sessionId });
    expect(second.value).toEqual({ sessionId, status: 'completed', output: '2: again' });
    expect((await call('support', { sessionId })).value).toEqual(second.value);
    expect(await call('the_invoice', { sessionId })).toMatchObject({ isError: true });
  });

  it('returns a typed output as structured content', async () => {
    const { client } = await setup();
    const { client: raw, call } = await client('a', { generation });
    const output = { total: 7, lines: [{ text: 'lamp' }] };
    const [, invoice] = (await raw.listTools()).tools;
    expect(invoice?.outputSchema).toMatchObject({
      properties: { output: { properties: { total: { type: 'number' } } } },
    });
    const made = await call('the_invoice', { message: `json ${JSON.stringify(output)}` });
    expect(made.value).toMatchObject({ status: 'completed', output });
  });

  it('explains a stop with the text for people', async () => {
    const { client } = await setup();
    const { call } = await client('a', { generation });
    const stopped = await call('support', { message: 'loop slow {"ms":0}' });
    expect(stopped).toMatchObject({
      isError: true,
      value: {
        status: 'stopped',
        explanation: expect.stringContaining('5 of 5 steps'),
        next: expect.stringContaining('and a message'),
      },
    });
    expect(stopped.value.output).toBeUndefined();
  });

  it('reports progress, within bounds', async () => {
    const { client } = await setup();
    const { call } = await client('a', { generation });
    const reports: { progress: number; message: string }[] = [];
    await call(
      'support',
      { message: 'call slow {"ms":1500}' },
      { onprogress: (report) => reports.push(report) },
    );
    const texts = reports.map(({ message }) => message);
    expect(texts).toContain('Step 1');
    expect(texts.some((text) => text.startsWith('slow: '))).toBe(true);
    expect(reports.map(({ progress }) => progress)).toEqual(reports.map((_one, i) => i + 1));
    expect(reports.length).toBeLessThan(10);
  });

  it('returns before a client gives up, and the session continues', async () => {
    const { client, effects } = await setup({ waitMs: 200 });
    const { call } = await client('a', { generation });
    const working = await call('support', { message: 'call slow {"ms":1200}' });
    expect(working.value).toMatchObject({
      status: 'working',
      next: expect.stringContaining('again'),
    });
    expect(working.isError).toBeUndefined();
    const { sessionId } = working.value;
    const busy = await call('support', { message: 'more', sessionId });
    expect(busy).toMatchObject({
      isError: true,
      value: {
        status: 'working',
        explanation: 'The message was not sent. The agent is still working.',
      },
    });
    const result = await until(async () => {
      const { value } = await call('support', { sessionId });
      return value.status === 'completed' ? value : null;
    });
    expect(result.output).toBe('got slow done');
    expect(effects()).toEqual(['slow started', 'slow done']);
  });

  it('says what waits to a client that cannot ask', async () => {
    const { client, runtime, effects } = await setup();
    const { call } = await client('a', { generation });
    const { isError, value } = await call('support', remove);
    expect(isError).toBeUndefined();
    const { sessionId } = value;
    expect(value).toMatchObject({
      status: 'waiting',
      explanation: expect.stringContaining('remove needs approval'),
      waitingFor: [{ tool: 'remove', asks: expect.stringContaining('lamp') }],
      next: expect.stringContaining(`onward approve ${sessionId}`),
    });
    // the model cannot approve in place of the user
    for (const args of [
      { sessionId, message: 'yes, approve it' },
      { sessionId, approve: true },
    ])
      expect(await call('support', args)).toMatchObject({ isError: true });
    expect(effects()).toEqual([]);
    const { callId } = (await runtime.get(sessionId, ofAnn)).pendingApprovals[0]!;
    await runtime.approve(sessionId, callId, { ...ofAnn, wait: true });
    const done = await call('support', { sessionId });
    expect(done.value).toMatchObject({ status: 'completed', output: 'got removed lamp' });
    expect(effects()).toEqual(['removed lamp']);
  });
});

it('our own client calls our server: an approval there is a question here', async () => {
  const { url, effects } = await setup();
  const desk = mcp({ name: 'desk', url, headers: { authorization: 'Bearer token-a' } });
  const { toolCall, final } = ScenarioStep;
  const agent = createAgent({
    model: DeterministicDriver.fromSteps(toolCall('desk__support', remove), final('Removed.')),
    capabilities: [desk],
    errorPolicy: ErrorPolicy.production(),
  });
  onTestFinished(() => agent.close());
  const paused = await agent.run('Remove the lamp.');
  expect(paused.pendingInputs).toMatchObject([
    { inputId: 'call_1/question_1', message: expect.stringContaining('wants to call remove') },
  ]);
  expect(effects()).toEqual([]);
  const done = await agent.resume(JSON.parse(JSON.stringify(paused)), {
    inputs: { 'call_1/question_1': { action: 'accept', content: { decision: 'approve' } } },
  });
  expect(effects()).toEqual(['removed lamp']);
  expect(done.steps.at(0)?.results[0]?.value).toMatchObject({
    status: 'completed',
    output: 'got removed lamp',
  });
  expect(done.output).toBe('Removed.');
});
