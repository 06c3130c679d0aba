import { context, trace } from '@opentelemetry/api';
import { SessionRuntime } from 'onward';
import { sqliteStore } from 'onward/stores/sqlite';
import { ScenarioStep } from 'onward/testing';
import { expect, it, onTestFinished, vi } from 'vitest';
import { bundledProgram, startChild } from '../setup/child-program.ts';
import { named, observedHere, treeOf } from '../setup/otlp.ts';
import { expectSpansOfSession } from '../setup/span-counts.ts';
import { ann, clientOn, memoryPlace, runtimeOn, sqlitePlace, waiting } from '../setup/sessions.ts';
import { tracedAgent } from './traced-agent.ts';

vi.setConfig({ testTimeout: 60_000 });

const { final, toolCall, toolCalls } = ScenarioStep;

/** A session of a process that is then killed, and a runtime of this process over the same file. */
async function left(tool: string, until: string) {
  const otlp = await observedHere();
  const { folder } = sqlitePlace();
  const path = `${folder}/sessions.db`;
  const program = await bundledProgram('test/telemetry/telemetry-program.ts');
  const child = startChild(program, [path, otlp.url, tool]);
  await child.said(until);
  child.process.kill('SIGKILL');
  await child.gone;
  const agent = tracedAgent([final('done')], () => 'unhung');
  const store = sqliteStore({ path });
  const runtime = new SessionRuntime({
    store,
    agents: [agent],
    lease: { leaseMs: 3_000, heartbeatMs: 1_000 },
  });
  onTestFinished(async () => {
    await runtime.close();
    await store.close();
  });
  return { otlp, runtime };
}

it('an approval in another process continues the trace of the request', async () => {
  const { otlp, runtime } = await left('pay', 'waiting approval');
  const paused = await runtime.get('s', ann);
  expect(JSON.stringify(paused)).not.toContain('traceparent');
  const callId = paused.pendingApprovals[0]?.callId ?? '';
  const done = await runtime.approve('s', callId, waiting);
  expect(done.status).toBe('completed');
  const spans = await otlp.spans();
  expect(treeOf(spans)).toEqual([
    'POST /messages',
    '  invoke_agent bank',
    '    chat gpt-5',
    '    execute_tool look',
    '    chat gpt-5',
    '    invoke_agent bank',
    '      execute_tool pay',
    '      chat gpt-5',
  ]);
  expect(new Set(spans.map(({ traceId }) => traceId)).size).toBe(1);
  const [first, second] = named(spans, 'invoke_agent');
  expect(first?.attributes).toMatchObject({
    'onward.status': 'paused',
    'onward.pause.kind': 'approval',
    'onward.resumed': false,
    'gen_ai.conversation.id': 's',
  });
  expect(second?.attributes).toMatchObject({
    'onward.stop_reason': 'completed',
    'onward.resumed': true,
    'gen_ai.conversation.id': 's',
  });
  expect(named(spans, 'execute_tool pay')[0]?.attributes['onward.approval']).toBe('approved');
  await expectSpansOfSession(spans, runtime, 's', ann);
  const shown = JSON.stringify([
    await runtime.events('s', ann),
    await runtime.messages('s', ann),
    await runtime.steps('s', ann),
  ]);
  expect(shown).not.toContain(first?.traceId);
});

it('the run of a session links the traces of those who answered what it waited for', async () => {
  const otlp = await observedHere();
  const agent = tracedAgent(
    [toolCalls([{ name: 'pay' }, { name: 'pay' }, { name: 'pay' }]), final('done')],
    () => null,
  );
  const place = memoryPlace();
  const runtime = runtimeOn(place.open(), agent);
  await runtime.create({ id: 's', ...ann });
  const { pendingApprovals } = await runtime.send('s', 'go', waiting);
  const tracer = trace.getTracer('test');
  const inTrace = async <T>(name: string, work: () => Promise<T>): Promise<T> => {
    const span = tracer.startSpan(name);
    return context.with(trace.setSpan(context.active(), span), work).finally(() => span.end());
  };
  const [first, second, third] = pendingApprovals.map(({ callId }) => callId);
  // two answers in traces of their own, and one without a trace
  await inTrace('POST /approve', () => runtime.approve('s', first ?? '', ann));
  await inTrace('POST /deny', () => runtime.deny('s', second ?? '', { ...ann, reason: 'no' }));
  await runtime.approve('s', third ?? '', ann);
  expect(await runtime.wait('s', ann)).toMatchObject({ status: 'completed' });
  // a run ends its span after the session has its end
  await runtime.close();
  const reader = clientOn(place.open(), agent);
  const spans = await otlp.spans();
  const links = named(spans, 'invoke_agent').flatMap((span) => span.links);
  const answers = spans.filter(({ name }) => name.startsWith('POST '));
  expect(answers).toHaveLength(2);
  expect(new Set(links.map(({ spanId }) => spanId))).toEqual(
    new Set(answers.map(({ spanId }) => spanId)),
  );
  const shown = JSON.stringify([
    await reader.get('s', ann),
    await reader.events('s', ann),
    await reader.steps('s', ann),
  ]);
  for (const { traceId } of answers) expect(shown).not.toContain(traceId);
  await expectSpansOfSession(spans, reader, 's', ann);
});

it('the work of a killed process continues in its trace', async () => {
  const { otlp, runtime } = await left('hang', 'hanging');
  await expect.poll(() => runtime.recover(), { timeout: 30_000, interval: 500 }).toBe(1);
  const done = await runtime.wait('s', ann);
  expect(done.status).toBe('completed');
  const spans = await otlp.spans();
  // the span of the run that died never arrives: its children, and the run that continues, keep the trace
  expect(treeOf(spans).toSorted()).toEqual(
    [
      'POST /messages',
      'chat gpt-5',
      'execute_tool look',
      'chat gpt-5',
      'invoke_agent bank',
      '  execute_tool hang',
      '  chat gpt-5',
    ].toSorted(),
  );
  expect(new Set(spans.map(({ traceId }) => traceId)).size).toBe(1);
  const parents = spans
    .filter(({ name, attributes }) => name !== 'POST /messages' && attributes['onward.step'] !== 3)
    .filter(({ name }) => name !== 'execute_tool hang')
    .map(({ parentSpanId }) => parentSpanId);
  expect(new Set(parents).size).toBe(1);
  await expectSpansOfSession(spans, runtime, 's', { ...ann, hasLostRun: true });
});

it('a worker that hands over ends its span, and the next one continues the trace', async () => {
  const otlp = await observedHere();
  const place = memoryPlace();
  let hang: () => void = () => {};
  const begun = new Promise<void>((resolve) => (hang = resolve));
  const first = runtimeOn(
    place.open(),
    tracedAgent([toolCall('look'), toolCall('hang')], () => {
      hang();
      return new Promise(() => {});
    }),
  );
  await first.create({ id: 's', ...ann });
  await first.send('s', 'go', ann);
  await begun;
  await first.close({ graceMs: 10 });
  const second = runtimeOn(
    place.open(),
    tracedAgent([final('done')], () => 'unhung'),
  );
  expect(await second.recover()).toBe(1);
  const done = await second.wait('s', ann);
  expect(done.status).toBe('completed');
  const spans = await otlp.spans();
  expect(treeOf(spans)).toEqual([
    'invoke_agent bank',
    '  chat gpt-5',
    '  execute_tool look',
    '  chat gpt-5',
    '  execute_tool hang',
    '  invoke_agent bank',
    '    execute_tool hang',
    '    chat gpt-5',
  ]);
  const [one] = named(spans, 'invoke_agent');
  expect(one?.attributes['onward.pause.kind']).toBe('handover');
});

it('sessions do not mix: each run belongs to its own request, or to none', async () => {
  const otlp = await observedHere();
  const agent = tracedAgent(
    Array.from({ length: 6 }, () => final('ok')),
    () => null,
  );
  const runtime = runtimeOn(memoryPlace().open(), agent, { concurrency: 1 } as never);
  const tracer = trace.getTracer('test');
  for (const id of ['a', 'b', 'c']) await runtime.create({ id, ...ann });
  // `c` is sent without a span, while the requests of the others wake the worker
  await Promise.all(
    ['a', 'b', 'c'].map((id) => {
      if (id === 'c') return runtime.send(id, 'go', waiting);
      const span = tracer.startSpan(`request ${id}`);
      return context
        .with(trace.setSpan(context.active(), span), () => runtime.send(id, 'go', waiting))
        .finally(() => span.end());
    }),
  );
  // a new message of `a` is a trace of its own
  await runtime.send('a', 'again', waiting);
  const spans = await otlp.spans();
  const tree = (of: string) =>
    treeOf(
      spans.filter(
        ({ name, attributes }) =>
          name === `request ${of}` || attributes['gen_ai.conversation.id'] === of,
      ),
    );
  const run = ['invoke_agent bank', '  chat gpt-5'];
  expect(tree('a')).toEqual(['request a', ...run.map((line) => `  ${line}`), ...run]);
  expect(tree('b')).toEqual(['request b', ...run.map((line) => `  ${line}`)]);
  expect(tree('c')).toEqual(run);
  expect(new Set(spans.map(({ traceId }) => traceId)).size).toBe(4);
});

it('a paused session that is stopped ends in its trace', async () => {
  const otlp = await observedHere();
  const agent = tracedAgent([toolCall('pay')], () => null);
  const runtime = runtimeOn(memoryPlace().open(), agent);
  await runtime.create({ id: 's', ...ann });
  await runtime.send('s', 'go', waiting);
  await runtime.stop('s', waiting);
  const spans = await otlp.spans();
  expect(treeOf(spans)).toEqual([
    'invoke_agent bank',
    '  chat gpt-5',
    '  invoke_agent bank',
    '    execute_tool pay !aborted',
  ]);
  for (const { attributes } of spans) expect(attributes['gen_ai.conversation.id']).toBe('s');
});
