import { AgentBuilder, defineTool, ErrorPolicy, SessionRuntime, type Tool } from 'onward';
import { memoryStore } from 'onward/stores/memory';
import { DeterministicDriver, fakeClock, ScenarioStep } from 'onward/testing';
import { readTrace } from '../../src/trace/read-trace.ts';
import type { Trace } from '../../src/trace/trace.ts';
import { leadHasOwner } from './trace-builder.ts';

const ann = { owner: 'ann' };

/** Runs the reference run with a real agent on a fake clock. */
export async function realRun(): Promise<{
  readonly waiting: Trace;
  readonly stopped: Trace;
  readonly granted: Trace;
}> {
  const clock = fakeClock();
  const wait = (ms: number): Promise<void> => new Promise((resolve) => clock.after(ms, resolve));
  let tries = 0;
  const tool = (name: string, ms: () => number, more: Partial<Tool> = {}): Tool =>
    defineTool({
      name,
      description: name,
      parameters: { type: 'object', additionalProperties: true },
      ...(more.timeoutMs === undefined ? {} : { timeoutMs: more.timeoutMs }),
      needsApproval: name.startsWith('delete'),
      execute: async () => {
        await wait(ms());
        return 'done';
      },
    });
  const said = (input: number, output: number, delayMs: number) => ({
    usage: { input, output, total: input + output },
    cost: (input * 2 + output * 8) / 1e6,
    delayMs,
  });
  const { toolCalls, final } = ScenarioStep;
  const calls = (...names: readonly string[]) =>
    names.map((name, i) => ({ name, args: { i, of: names.length } }));
  const driver = DeterministicDriver.create(
    [
      toolCalls(calls('search_entities', 'search_entities'), '', said(1204, 86, 1420)),
      toolCalls(calls('enrich_company', 'search_entities'), '', said(1612, 74, 1180)),
      ScenarioStep.error(
        {
          type: 'rate_limit',
          code: 'http_429',
          message: '429 Too many requests',
          retryable: true,
          retryAfterMs: 2000,
        },
        { delayMs: 240 },
      ),
      toolCalls(calls('enrich_company', 'search_entities'), '', said(1798, 92, 1630)),
      toolCalls(calls('create_program_lead', 'delete_program_lead'), '', said(2310, 118, 1360)),
      toolCalls(calls('search_entities'), '', said(2566, 64, 1210)),
      final('Helvetia Robotics is added, and its duplicate is gone.', said(2700, 40, 900)),
    ],
    { clock },
  );
  const agent = AgentBuilder.base()
    .withName('partner-assistant')
    .withDriver(driver)
    .withClock(clock)
    .withTools(
      tool('search_entities', () => 350),
      tool('enrich_company', () => (tries++ === 0 ? 60_000 : 1840), { timeoutMs: 5000 }),
      tool('create_program_lead', () => 410),
      tool('delete_program_lead', () => 220),
    )
    .withMaxSteps(5)
    .withMaxTokens(40_000)
    .withMaxCost(0.1)
    .withCumulativeTimeout({ seconds: 120 })
    .withErrorPolicy(ErrorPolicy.retryAll(3))
    .addContinuationCriteria(leadHasOwner)
    .build();
  const runtime = new SessionRuntime({ store: memoryStore(), agents: [agent], clock });
  const session = await runtime.create({ agent: 'partner-assistant', ...ann });
  const read = (): Promise<Trace> => readTrace(runtime, session.id, ann);
  const rests = async (): Promise<void> => {
    for (let i = 0; i < 400; i++) {
      await clock.advance(100);
      const { status } = await runtime.get(session.id, ann);
      if (status !== 'in_progress' && status !== 'pending') return;
    }
    throw new Error('the run does not come to rest');
  };
  await runtime.send(session.id, 'Add Helvetia, remove its duplicate', ann);
  await rests();
  const waiting = await read();
  await clock.advance(252_000);
  const { pendingApprovals } = await runtime.get(session.id, ann);
  for (const { callId } of pendingApprovals) await runtime.approve(session.id, callId, ann);
  await rests();
  const stopped = await read();
  await clock.advance(30_000);
  await runtime.resume(session.id, { ...ann, grant: { steps: 5 } });
  await rests();
  const granted = await read();
  await runtime.close({ graceMs: 0 });
  return { waiting, stopped, granted };
}
