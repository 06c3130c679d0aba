// @vitest-environment happy-dom
import { cleanup, render } from '@testing-library/react';
import { AgentBuilder, defineTool, ErrorPolicy, SessionRuntime } from 'onward';
import { memoryStore } from 'onward/stores/memory';
import { DeterministicDriver, fakeClock, ScenarioStep } from 'onward/testing';
import { afterEach, expect, it } from 'vitest';
import { readRefill } from '../../src/broadcasting/refill.ts';
import { ChatView } from '../../src/console/chat/chat-view.tsx';
import type { ChatViewProps } from '../../src/console/contract.ts';
import { readTrace } from '../../src/trace/read-trace.ts';
import { chatProps, sessionOf, stateAfter } from './chat-fixtures.ts';

afterEach(cleanup);
const ann = { owner: 'ann' };

/** Runs a real agent on a fake clock: a timeout, a rate limit, an approval, a step limit and a grant. */
async function realRun(): Promise<Record<'waiting' | 'stopped' | 'granted', ChatViewProps>> {
  const clock = fakeClock();
  let tries = 0;
  const tool = (name: string, result: unknown, ms: () => number = () => 350) =>
    defineTool({
      name,
      description: name,
      parameters: { type: 'object', additionalProperties: true },
      timeoutMs: 5_000,
      needsApproval: name.startsWith('delete'),
      execute: async () => {
        await new Promise<void>((resolve) => void clock.after(ms(), resolve));
        return result;
      },
    });
  const { toolCalls, final, error } = ScenarioStep;
  const driver = DeterministicDriver.create(
    [
      toolCalls([{ name: 'search', args: { query: 'Nordlicht' } }], 'I look it up.'),
      toolCalls([
        { name: 'enrich', args: { domain: 'helvetia.ch' } },
        { name: 'search', args: { query: 'Helvetia' } },
      ]),
      error({
        type: 'rate_limit',
        code: 'http_429',
        message: 'Too many requests',
        retryable: true,
        retryAfterMs: 2_000,
      }),
      toolCalls([{ name: 'enrich', args: { domain: 'helvetia.ch' } }]),
      toolCalls([{ name: 'delete_lead', args: { id: 'lead_7' } }], 'I remove the **duplicate**.'),
      final('All is *done*.'),
    ],
    { clock },
  );
  const agent = AgentBuilder.base()
    .withName('partner-assistant')
    .withDriver(driver)
    .withClock(clock)
    .withTools(
      tool('search', [{ id: 1 }, { id: 2 }]),
      tool('enrich', '84 employees', () => (tries++ === 0 ? 60_000 : 1_840)),
      tool('delete_lead', { id: 'lead_7' }),
    )
    .withMaxSteps(4)
    .withErrorPolicy(ErrorPolicy.retryAll(3))
    .build();
  const runtime = new SessionRuntime({ store: memoryStore(), agents: [agent], clock });
  const { id } = await runtime.create({ agent: 'partner-assistant', ...ann });
  const read = async (): Promise<ChatViewProps> => {
    const { envelopes } = await readRefill(runtime, id, { ...ann, limit: 1_000 });
    const trace = await readTrace(runtime, id, ann);
    return chatProps(sessionOf(stateAfter(envelopes)), { trace });
  };
  const rests = async (): Promise<void> => {
    for (let i = 0; i < 400; i++) {
      await clock.advance(100);
      const { status } = await runtime.get(id, ann);
      if (status !== 'in_progress' && status !== 'pending') return;
    }
    throw new Error('the run does not come to rest');
  };
  await runtime.send(id, 'Add Helvetia, remove its duplicate', ann);
  await rests();
  const waiting = await read();
  await clock.advance(252_000);
  const { pendingApprovals } = await runtime.get(id, ann);
  for (const { callId } of pendingApprovals) await runtime.approve(id, callId, ann);
  await rests();
  const stopped = await read();
  await runtime.resume(id, { ...ann, grant: { steps: 4 } });
  await rests();
  const granted = await read();
  await runtime.close({ graceMs: 0 });
  return { waiting, stopped, granted };
}

const lines = (selector: string): (string | undefined)[] =>
  [...document.querySelectorAll(selector)].map((one) =>
    [...one.children]
      .map(({ textContent }) => textContent)
      .filter(Boolean)
      .join(' | '),
  );

it('shows a real run from its log and its trace', async () => {
  const { waiting, stopped, granted } = await realRun();
  const { rerender } = render(<ChatView {...waiting} />);
  expect(lines('.call > summary')).toEqual([
    'search | Nordlicht | 2 results | 0.35 s',
    'enrich | helvetia.ch | timed out | 5.00 s',
    'search | Helvetia | 2 results | 0.35 s',
    'enrich | helvetia.ch | retry 1 of 3 · 84 employees | 1.84 s',
    'delete_lead | lead_7 | needs approval',
  ]);
  expect(lines('.event')).toEqual([
    expect.stringMatching(
      /^Rate limited by the provider\. Waited 2 s and tried again \(attempt 2\)\. Details \| \d\d:\d\d$/,
    ),
  ]);
  expect([...document.querySelectorAll('.step-tag')].map((tag) => tag.textContent)).toEqual([
    'Step 1',
    'Step 2',
    'Step 4',
    'Step 5',
  ]);
  expect(document.querySelector('.onward-approval h3')?.textContent).toBe('Delete lead_7?');

  rerender(<ChatView {...stopped} />);
  expect(lines('.call > summary').at(-1)).toBe(
    'delete_lead | lead_7 | approved by you after 4m 12s · lead_7 | 0.35 s',
  );
  expect(document.querySelector('.banner')?.textContent).toContain('Stopped because it used 4');
  expect(document.querySelector('[data-key="grant"]')?.textContent).toMatch(
    /^Continue with \d more steps$/,
  );

  rerender(<ChatView {...granted} />);
  expect(document.querySelector('.banner')).toBeNull();
  expect([...document.querySelectorAll('.said')].map((said) => said.textContent)).toEqual([
    'I look it up.',
    'I remove the duplicate.',
    'All is done.',
  ]);
  expect(lines('.event').slice(1)).toEqual([
    expect.stringMatching(/^Stopped because it used 4 .* View decision/),
    expect.stringMatching(/^An operator allowed 4 more steps\./),
  ]);
  expect(document.querySelector('.completed')?.textContent).toMatch(/^Completed in 5 steps · /);
});
