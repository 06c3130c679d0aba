// @vitest-environment happy-dom
import { cleanup, render, screen } from '@testing-library/react';
import { userEvent } from '@testing-library/user-event';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { statusFacts } from '../../src/agent/agent-status.ts';
import { wireExplanation } from '../../src/broadcasting/wire-explanation.ts';
import { nextCommands } from '../../src/cli/next-commands.ts';
import { changeLine, stopLine } from '../../src/cli/run-ending.ts';
import { StopBanner } from '../../src/console/stop-banner.tsx';
import type { ExplanationAction } from '../../src/continuation/explanation.ts';
import { StopExplanation } from '../../src/react/index.ts';
import { parkedOutcome } from '../../src/sessions/attempts.ts';
import { stopSentence, type StopFacts } from '../../src/trace/index.ts';
import { explanationCases } from '../explanation-cases.ts';

afterEach(cleanup);

interface Row {
  /** Facts of a stop whose first action has this kind. */
  readonly stopped: () => Promise<StopFacts>;
  /** The button of `onward/react` and what it calls. */
  readonly react: readonly [label: string, call: string] | null;
  /** The button of the console and what it calls. */
  readonly console: readonly [label: string, call: string] | null;
  /** Commands that the command line suggests, or what to change. */
  readonly cli: readonly string[];
}

const factsOf = async (name: string): Promise<StopFacts> => {
  const state = await explanationCases[name]!();
  const { status, stopReason, lastContinuationOutcome: outcome, pause, pendingApprovals } = state;
  return {
    status: statusFacts(status, stopReason).broadcast,
    outcome,
    pause: pause && { kind: pause.kind, ...(pause.reason && { reason: pause.reason }) },
    pendingApprovals,
  };
};

const asked = { inputId: 'call_1/sure', callId: 'call_1', tool: 'delete_page' };

/** One row per action kind, because every surface shows each kind. */
const rows: Readonly<Record<ExplanationAction['kind'], Row>> = {
  grant: {
    stopped: () => factsOf('step limit'),
    react: ['Continue with 2 more steps', 'resume {"steps":2}'],
    console: ['Continue with 2 more steps', 'grant {"steps":2}'],
    cli: ['onward resume 12345678 --grant steps=2'],
  },
  wait: {
    stopped: () => factsOf('rate limit'),
    react: ['Continue with 1 more retry', 'resume {"retries":1}'],
    console: ['Continue with 1 more retry', 'grant {"retries":1}'],
    cli: ['onward resume 12345678 --grant retries=1'],
  },
  approve: {
    stopped: () => factsOf('paused for approval'),
    // approval cards are shown separately
    react: null,
    console: null,
    cli: ['onward approve 12345678', "onward deny 12345678 --reason '…'"],
  },
  input: {
    stopped: async () => ({
      ...(await factsOf('paused for approval')),
      pause: { kind: 'input' },
      pendingApprovals: [],
      pendingInputs: [asked],
    }),
    // forms are shown separately
    react: null,
    console: null,
    cli: ["onward answer 12345678 --content '{…}'", 'onward answer 12345678 --decline'],
  },
  resume: {
    stopped: () => factsOf('paused on request'),
    react: ['Resume', 'resume'],
    console: ['Resume', 'resume'],
    cli: ['onward resume 12345678'],
  },
  retry: {
    stopped: async () => ({
      status: 'failed',
      outcome: parkedOutcome({ error: 'no disk', tries: 5, deaths: 0, parkedAt: null }),
    }),
    react: ['Retry', 'retry'],
    console: ['Retry', 'resume'],
    cli: ['onward parked --retry 12345678', 'onward stop 12345678'],
  },
  change: {
    stopped: () => factsOf('wrong key'),
    react: null,
    console: null,
    cli: ['To continue: set a valid API key, then call resume(state, { grant: { retries: 1 } }).'],
  },
  new_message: {
    stopped: () => factsOf('tool that asked to stop'),
    // the composer is shown separately
    react: null,
    console: ['New message', 'message'],
    cli: ["onward run '…' --session 12345678"],
  },
  ask_operator: {
    stopped: async () => ({
      ...(await factsOf('step limit')),
      allowance: { left: {}, grant: null },
    }),
    react: null,
    console: ['New message', 'message'],
    cli: [
      'To continue: call runtime.resume(id, { owner, grant: { steps: 2 } }) in server code, or raise the cap with the grants option; the owner may grant no more.',
      "onward run '…' --session 12345678",
    ],
  },
};

/** Clicks the only button, if there is one, and returns its label and its call. */
async function pressed(
  calls: Readonly<Record<string, ReturnType<typeof vi.fn>>>,
): Promise<Row['react']> {
  const button = screen.queryByRole('button');
  if (!button) return null;
  const label = button.textContent;
  await userEvent.click(button);
  const called = Object.entries(calls).flatMap(([name, call]) =>
    call.mock.calls.map(([grant]: readonly unknown[]) =>
      name === 'message' || grant === undefined ? name : `${name} ${JSON.stringify(grant)}`,
    ),
  );
  return [label, called.join(', ')];
}

describe.each(Object.entries(rows))('an explanation with the action %s', (kind, row) => {
  const sentenceOf = async () => {
    const facts = await row.stopped();
    const sentence = stopSentence(facts);
    if (!sentence) throw new Error('it works');
    expect(sentence.explanation.actions[0]?.kind).toBe(kind);
    return { facts, sentence, text: sentence.explanation.actions[0]?.text ?? '' };
  };

  it('is shown by onward/react', async () => {
    const { facts, text } = await sentenceOf();
    // envelopes have no caps
    const uncapped = stopSentence({ ...facts, allowance: null })!.explanation;
    const calls = { resume: vi.fn(), retry: vi.fn() };
    render(
      <StopExplanation
        stop={{
          status: facts.status,
          stop_reason: uncapped.stopReason,
          stop_message: uncapped.headline,
          resolved_by: uncapped.decidedBy,
          remedy: null,
          error_message: null,
          last_response: null,
          explanation: wireExplanation(uncapped),
          step_count: 1,
          timestamp: '2026-01-16T12:00:00.000Z',
        }}
        action={null}
        allowance={facts.allowance ?? null}
        onResume={calls.resume}
        onRetry={calls.retry}
      />,
    );
    expect(screen.getByRole('region').textContent).toContain(text);
    expect(await pressed(calls)).toEqual(row.react);
  });

  it('is shown by the console', async () => {
    const { facts, sentence, text } = await sentenceOf();
    const calls = { grant: vi.fn(), resume: vi.fn(), message: vi.fn() };
    render(
      <StopBanner
        stop={sentence}
        status={facts.status}
        reason={null}
        resolvedBy={null}
        grantState={{ kind: 'ready' }}
        onGrant={calls.grant}
        onResume={calls.resume}
        onNewMessage={calls.message}
      />,
    );
    expect(screen.getByRole('region').textContent).toContain(text);
    expect(await pressed(calls)).toEqual(row.console);
  });

  it('is printed by the command line', async () => {
    const { facts, sentence, text } = await sentenceOf();
    expect(stopLine(sentence)).toContain(text);
    const context = { command: (...words: readonly string[]) => ['onward', ...words].join(' ') };
    const session = {
      id: '12345678',
      pendingApprovals: (facts.pendingApprovals ?? []) as never, // only ids are read
      pendingInputs: (facts.pendingInputs ?? []) as never, // likewise
    };
    const change = changeLine(sentence);
    expect([
      ...(change === null ? [] : [change]),
      ...nextCommands(context, session, sentence),
    ]).toEqual(row.cli);
  });
});
