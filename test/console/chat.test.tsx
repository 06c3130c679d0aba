// @vitest-environment happy-dom
import { act, cleanup, fireEvent, render, screen, waitFor, within } from '@testing-library/react';
import { userEvent } from '@testing-library/user-event';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { ChatView } from '../../src/console/chat/chat-view.tsx';
import type { ChatViewProps } from '../../src/console/contract.ts';
import type { Envelope } from '../../src/broadcasting/envelope.ts';
import type { Trace } from '../../src/trace/trace.ts';
import type { SessionAction } from '../../src/ui/sources/session-actions.ts';
import type { UiState } from '../../src/ui/ui-state.ts';
import {
  bar,
  chatProps,
  detailOf,
  message,
  outcome,
  sessionOf,
  stateAfter,
  step,
  stepsStop,
  traceOfSteps,
  wireAt,
} from './chat-fixtures.ts';
import { scenes } from './chat-scenes.ts';

afterEach(() => {
  cleanup();
  vi.useRealTimers();
});

const rows = (): string[] =>
  [...document.querySelectorAll('.call > summary')].map((row) =>
    [...row.querySelectorAll('code, span')].map(({ textContent }) => textContent).join(' | '),
  );
const action = (more: Partial<SessionAction>): SessionAction => ({
  id: 'act_1',
  kind: 'approve',
  about: 'd0',
  status: 'pending',
  error: null,
  ...more,
});
const refused = (message: string, code: string): Error =>
  Object.assign(new Error(message), { code });
const withActions = (props: ChatViewProps, ...actions: SessionAction[]): ChatViewProps => ({
  ...props,
  session: { ...props.session, actions },
});
const liveProps = (envelopes: readonly Envelope[], trace: Trace | null = null): ChatViewProps =>
  chatProps(sessionOf(stateAfter(envelopes)), { trace });

describe('calls', () => {
  it('those of a step share a group, whose tag opens the trace there', async () => {
    const opened: unknown[][] = [];
    render(<ChatView {...scenes.stopped()} onOpenStep={(number) => opened.push([number])} />);
    const tags = [...document.querySelectorAll('.step-tag')].map(({ textContent }) => textContent);
    expect(tags).toEqual(['Step 1', 'Step 2 – 4', 'Step 5', 'Step 6']);
    await userEvent.click(screen.getByRole('button', { name: 'Step 2 – 4, open in the trace' }));
    expect(opened).toEqual([[4]]);
  });

  it('a row says name, arguments, how it came out and how long it took', () => {
    render(<ChatView {...scenes.stopped()} />);
    expect(rows()).toEqual([
      'search_entities | program · Nordlicht | 2 results | 0.41 s',
      'search_entities | lead · Helvetia Robotic | 1 result | 0.41 s',
      'enrich_company | helvetia-robotics.ch | retried 1/3 | 0.41 s',
      'search_entities | contact · Helvetia Robotics | 1 result | 0.41 s',
      'search_entities | owner_of prg_118 | 1 result | 0.41 s',
      'create_program_lead | Helvetia Robotics AG · program prg_118 | lead_2231 | 0.41 s',
      'delete_program_lead | lead_2207 | approved by you · 4m 12s | 0.41 s',
      'search_entities | lead · in prg_118 | 12 results | 0.41 s',
    ]);
  });

  it('a retry is one row with every try, the wait of the model between them', () => {
    render(<ChatView {...scenes.stopped()} />);
    const tries = [...document.querySelectorAll('.tries > li')].map(
      ({ textContent }) => textContent,
    );
    expect(tries).toEqual([
      'First try timeout — Tool "enrich_company" took longer than its 5000 ms.5.00 s',
      'Model rate-limited — rate_limit: 429 Too Many Requests, retry-after 2 s. Waited 2 s, then the same messages were sent again (try 2).2.24 s',
      'Second try — 84 employees, Winterthur0.41 s',
    ]);
  });

  it('without a trace a retry is found by the name of the tool', () => {
    render(<ChatView {...scenes.stopped()} trace={null} />);
    expect(rows()[2]).toBe('enrich_company | helvetia-robotics.ch | retried once | 0.41 s');
    expect(document.querySelector('.step-tag')).toBeNull();
  });

  it('a call that the trace does not hold to be a retry stands alone', () => {
    const wire = wireAt();
    const props = liveProps(
      [
        wire.started(),
        wire.user('x'),
        wire.step(1),
        wire.tool('search', 'a', { q: '1' }),
        wire.toolDone('search', 'a', 'Error: no', 'no'),
        wire.stepDone(1, true),
        wire.step(2),
        wire.tool('search', 'b', { q: '2' }),
        wire.toolDone('search', 'b', '[]'),
      ],
      traceOfSteps('processing', [
        step(1, [bar('search', 'a', { state: 'error', error: 'no' })]),
        step(2, [bar('search', 'b')], { type: 'running' }),
      ]),
    );
    render(<ChatView {...props} />);
    expect(rows()).toEqual(['search | 1 | failed | 0.31 s', 'search | 2 | 0 results | 0.31 s']);
  });

  it('failed ones are open by themselves and say what follows; the reader may close them', () => {
    render(<ChatView {...scenes.live()} />);
    const [fine, failed] = document.querySelectorAll<HTMLDetailsElement>('.call');
    expect([fine?.open, failed?.open]).toEqual([false, true]);
    expect(failed?.querySelector('.call-error')?.textContent).toBe(
      'timeout — Tool "enrich_company" took longer than its 5000 ms.',
    );
    expect(failed?.querySelector('.call-judgement')?.textContent).toBe(
      'timeout in enrich_company, retrying (1/3)',
    );
    failed!.open = false;
    fireEvent(failed!, new Event('toggle'));
    expect(failed?.open).toBe(false);
  });

  it('denied, aborted, lost and cut ones say so in the row', () => {
    render(<ChatView {...scenes.hostile()} />);
    expect(
      rows()
        .slice(1)
        .map((row) => row.split(' | ')[2]),
    ).toEqual([
      'long result',
      'effect unknown after a crash, not run again',
      'denied: still in negotiation',
      'aborted: you stopped the run',
    ]);
  });

  it('opens for arguments and result as text; a cut one can be loaded', async () => {
    const fetchRef = vi.fn(async () => ({ html: '<script>1</script>' }));
    render(<ChatView {...scenes.hostile()} fetchRef={fetchRef} />);
    const [, big] = document.querySelectorAll<HTMLDetailsElement>('.call');
    big!.open = true;
    fireEvent(big!, new Event('toggle'));
    await userEvent.click(within(big!).getByRole('button', { name: 'Load all' }));
    expect(fetchRef).toHaveBeenCalledWith('7.result.exe_1');
    await waitFor(() =>
      expect(within(big!).getByLabelText('Result').textContent).toBe(
        '{ "html": "<script>1</script>" }',
      ),
    );
    expect(document.querySelector('script')).toBeNull();
  });

  it('what an agent inside a call does stands under the calls', () => {
    render(<ChatView {...scenes.working()} />);
    expect(document.querySelector('.calls > .calls-note')?.textContent).toContain(
      'Running search_web…',
    );
    expect(screen.queryByText(/Running enrich_company/)).toBeNull();
  });

  it('a failed call of the model alone is a line with its step', () => {
    const wire = wireAt();
    const props = liveProps(
      [wire.started(), wire.user('x'), wire.step(1), wire.stepDone(1)],
      traceOfSteps('processing', [
        step(1, [], {
          type: 'error',
          bars: [
            bar('model', null, { state: 'error', error: 'Too many requests', durationMs: 100 }),
          ],
          waitMs: 2_000,
          outcome: {
            ...outcome(true, ''),
            evaluations: [
              {
                criterion: 'ErrorPolicyCriterion',
                decision: 'allow',
                reason: '',
                context: { errorType: 'rate_limit' },
              },
            ],
          },
        }),
      ]),
    );
    render(<ChatView {...props} />);
    expect(document.querySelector('.tries-alone')?.textContent).toBe(
      'Model rate-limited — Too many requests. Waits 2 s before try 2.2.10 s',
    );
    expect(document.querySelector('.step-tag')?.textContent).toBe('Step 1');
  });
});

describe('approvals', () => {
  const card = (): HTMLElement => document.querySelector<HTMLElement>('.approval')!;
  const shown = (props: ChatViewProps = scenes.approval()) => {
    const asked: unknown[][] = [];
    const session = sessionOf(props.session.state, { actions: props.session.actions }, asked);
    const result = render(<ChatView {...props} session={session} />);
    return { asked, ...result };
  };

  it('asks in plain words, and says what has and has not happened', () => {
    shown();
    expect(screen.getByRole('heading', { level: 3 }).textContent).toBe('Delete lead_1874?');
    expect(card().querySelector('.approval-facts')?.textContent).toBe(
      'delete_program_lead only runs when you say so. It has not run yet; the other call of this step has finished and will not run again.',
    );
    expect([...card().querySelectorAll('dd')].map(({ textContent }) => textContent)).toEqual([
      'lead_1874',
      'inactive since 2024-11-02',
      'true',
    ]);
    expect(card().textContent).not.toContain('1 of 1');
    expect(rows().at(-1)).toContain('waiting for you');
    expect(
      screen.getByPlaceholderText<HTMLTextAreaElement>('Answer the approval first').disabled,
    ).toBe(true);
  });

  it('several are counted, and a nested one names its path', () => {
    shown(scenes.approvals());
    const cards = [...document.querySelectorAll('.approval')];
    expect(cards.map((one) => one.querySelector('.approval-place')?.textContent)).toEqual([
      '1 of 3',
      '2 of 3',
      '3 of 3',
    ]);
    expect(cards[1]?.querySelector('.approval-path')?.textContent).toBe('asked by cleaner');
    expect(screen.getByPlaceholderText('Answer the 3 approvals first')).toBeTruthy();
  });

  it('the keys of the page find its buttons', async () => {
    const { asked } = shown();
    const keys = [...card().querySelectorAll('[data-key]')].map((one) =>
      one.getAttribute('data-key'),
    );
    expect(keys).toEqual(['approve', 'edit', 'deny']);
    await userEvent.click(card().querySelector('[data-key="approve"]')!);
    expect(asked).toEqual([['approve', 'd0']]);
  });

  it('is edited in fields of its types, and says what was changed', async () => {
    const { asked } = shown(scenes.approvals());
    await userEvent.click(within(card()).getByRole('button', { name: 'Edit arguments' }));
    expect(document.activeElement).toBe(within(card()).getByLabelText('id'));
    await userEvent.selectOptions(within(card()).getByLabelText('notify_owner'), 'false');
    expect(card().querySelector('.approval-hint')?.textContent).toBe(
      '1 change: notify_owner true → false. Checked against the tool’s schema again before it runs.',
    );
    const weight = within(card()).getByLabelText('weight');
    await userEvent.clear(weight);
    await userEvent.type(weight, 'two');
    await userEvent.click(within(card()).getByRole('button', { name: 'Approve with changes' }));
    expect(asked).toEqual([]);
    expect(screen.getByRole('alert').textContent).toBe('This is not a number.');
    expect(document.activeElement).toBe(weight);
    await userEvent.clear(weight);
    await userEvent.type(weight, '2.5');
    const nested = within(card()).getByLabelText('retention');
    fireEvent.change(nested, { target: { value: '{"days": 7}' } });
    fireEvent.keyDown(nested, { key: 'Enter', ctrlKey: true });
    expect(asked).toEqual([
      [
        'approve',
        'd0',
        {
          id: 'lead_1874',
          reason: 'inactive since 2024-11-02',
          notify_owner: false,
          retention: { days: 7 },
          weight: 2.5,
        },
      ],
    ]);
  });

  it('edited without a change it is approved as it is', async () => {
    const { asked } = shown();
    await userEvent.click(card().querySelector('[data-key="edit"]')!);
    await userEvent.click(within(card()).getByRole('button', { name: 'Approve' }));
    expect(asked).toEqual([['approve', 'd0']]);
  });

  it('Escape leaves the form, and the focus is back where it was', async () => {
    shown();
    await userEvent.click(card().querySelector('[data-key="edit"]')!);
    await userEvent.keyboard('{Escape}');
    expect(card().querySelector('form')).toBeNull();
    await waitFor(() => expect(document.activeElement?.getAttribute('data-key')).toBe('edit'));
  });

  it('what the server does not take is said at the card, and nothing is lost', async () => {
    const props = scenes.approval();
    const { rerender } = render(<ChatView {...props} />);
    await userEvent.click(card().querySelector('[data-key="edit"]')!);
    const id = within(card()).getByLabelText<HTMLInputElement>('id');
    await userEvent.type(id, 'x');
    rerender(<ChatView {...withActions(props, action({}))} />);
    expect(within(card()).getByRole('button', { name: 'Sending…' })).toBeTruthy();
    const error = refused('id: must match ^lead_', 'invalid_approval');
    rerender(<ChatView {...withActions(props, action({ status: 'failed', error }))} />);
    expect(within(card()).getByRole('alert').textContent).toBe('id: must match ^lead_');
    expect(within(card()).getByLabelText<HTMLInputElement>('id').value).toBe('lead_1874x');
  });

  it('a lost race is explained', () => {
    const error = refused('Call d0 was answered before', 'conflict');
    render(<ChatView {...withActions(scenes.approval(), action({ status: 'failed', error }))} />);
    expect(within(card()).getByRole('alert').textContent).toBe(
      'Already answered, in another tab or by somebody else. Yours was not used.',
    );
  });

  it('answered, it waits for the run to go on', () => {
    render(<ChatView {...withActions(scenes.approval(), action({ status: 'done' }))} />);
    expect(within(card()).getByRole('status').textContent).toBe(
      'Approved. It goes on in a moment.',
    );
    expect(card().querySelector('button')).toBeNull();
  });

  it('denying asks for a reason, which the model reads', async () => {
    const { asked } = shown();
    await userEvent.click(card().querySelector('[data-key="deny"]')!);
    await userEvent.keyboard('{Enter}');
    expect(asked).toEqual([]);
    await userEvent.keyboard('still in negotiation{Enter}');
    expect(asked).toEqual([['deny', 'd0', 'still in negotiation']]);
  });
});

describe('the conversation', () => {
  const turnsOf = (count: number): UiState =>
    stateAfter(
      [],
      Array.from({ length: count }, (_, i) => [
        message(`u${i}`, 'user', `Question ${i}`),
        message(`a${i}`, 'assistant', `Answer ${i}`),
      ]).flat(),
    );

  it('a long one folds its beginning, opened on demand', async () => {
    render(<ChatView {...chatProps(sessionOf(turnsOf(6)))} />);
    expect(screen.queryByText('Answer 3')).toBeNull();
    expect(screen.getByText('Answer 4')).toBeTruthy();
    const fold = screen.getByRole('button', { name: '4 earlier turns · 4 steps' });
    expect(fold.getAttribute('aria-expanded')).toBe('false');
    await userEvent.click(fold);
    expect(screen.getByText('Answer 0')).toBeTruthy();
    expect(
      screen.getAllByRole('heading', { level: 2 }).map((one) => one.textContent?.split(',')[0]),
    ).toEqual(['Turn 1', 'Turn 2', 'Turn 3', 'Turn 4', 'Turn 5', 'Turn 6']);
  });

  it('what is open stays open when more is said', () => {
    const { rerender } = render(<ChatView {...chatProps(sessionOf(turnsOf(3)))} />);
    rerender(<ChatView {...chatProps(sessionOf(turnsOf(6)))} />);
    expect(screen.getByText('Answer 0')).toBeTruthy();
    expect(document.querySelector('.earlier')).toBeNull();
  });

  it('another session begins anew', () => {
    const of = (count: number, id: string): ChatViewProps =>
      chatProps(sessionOf({ ...turnsOf(count), sessionId: id }));
    const { rerender } = render(<ChatView {...of(3, 'ses_1')} />);
    fireEvent.change(screen.getByRole('textbox'), { target: { value: 'draft' } });
    rerender(<ChatView {...of(6, 'ses_2')} />);
    expect(document.querySelector('.earlier')).toBeTruthy();
    expect(screen.getByRole<HTMLTextAreaElement>('textbox').value).toBe('');
  });

  it('live text has a caret, and the log does not announce it', () => {
    render(<ChatView {...scenes.live()} />);
    expect(document.querySelector('.said .caret')).toBeTruthy();
    expect(screen.getByRole('log').getAttribute('aria-live')).toBe('off');
    expect(document.querySelector('[role="status"]')?.textContent).toBe('');
  });

  it('text that does not count is struck out, and then gone', () => {
    vi.useFakeTimers();
    const wire = wireAt();
    const begun = [wire.started(), wire.user('x'), wire.step(1), wire.chunk('Half an ans', 0)];
    const { rerender } = render(<ChatView {...liveProps(begun)} />);
    const after = [...begun, wire.make('agent.stream.discarded', { step: 1, attempt: 1 })];
    rerender(<ChatView {...liveProps(after)} />);
    expect(document.querySelector('.discarded')?.textContent).toBe('Half an ans');
    act(() => void vi.advanceTimersByTime(2_000));
    expect(document.querySelector('.discarded')).toBeNull();
  });

  it('a finished text is not taken for a discarded one', () => {
    const wire = wireAt();
    const begun = [wire.started(), wire.user('x'), wire.step(1), wire.chunk('Half an ans', 0)];
    const { rerender } = render(<ChatView {...liveProps(begun)} />);
    rerender(<ChatView {...liveProps([...begun, wire.says('Half an answer.')])} />);
    expect(document.querySelector('.discarded')).toBeNull();
  });

  it('a message that was not sent says why, is sent again under its name, or taken back to be edited', async () => {
    const asked: unknown[][] = [];
    const state = stateAfter([], [message('m1', 'user', 'Hello', { metadata: { pending: true } })]);
    const failed = action({
      id: 'm1',
      kind: 'send',
      about: 'm1',
      status: 'failed',
      error: new Error('The server does not answer.'),
    });
    render(<ChatView {...chatProps(sessionOf(state, { actions: [failed] }, asked))} />);
    expect(screen.getByRole('alert').textContent).toContain(
      'Not sent. The server does not answer.',
    );
    await userEvent.click(screen.getByRole('button', { name: 'Try again' }));
    await userEvent.click(screen.getByRole('button', { name: 'Edit' }));
    expect(asked).toEqual([
      ['retry', 'm1'],
      ['dismiss', 'm1'],
    ]);
    expect(screen.getByRole<HTMLTextAreaElement>('textbox').value).toBe('Hello');
  });

  it('nothing of what models and tools say is HTML', () => {
    render(<ChatView {...scenes.hostile()} />);
    expect(document.querySelector('.chat :is(script, img, iframe)')).toBeNull();
    expect(document.querySelector('.user-text')?.textContent).toContain('<script>');
  });
});

describe('the end of a turn', () => {
  it('says why it stopped, and grants exactly what is missing', async () => {
    const onGrant = vi.fn();
    const onOpenStep = vi.fn();
    render(<ChatView {...scenes.stopped()} onGrant={onGrant} onOpenStep={onOpenStep} />);
    expect(screen.getByText('Stopped because')).toBeTruthy();
    await userEvent.click(screen.getByRole('button', { name: /Grant 5 steps/ }));
    expect(onGrant).toHaveBeenCalledWith({ steps: 5 });
    await userEvent.click(screen.getByRole('button', { name: 'Every voice at step 6' }));
    expect(onOpenStep).toHaveBeenCalledWith(6);
    expect(screen.getByPlaceholderText('Send a new message instead')).toBeTruthy();
  });

  it('completed is one quiet line', () => {
    render(<ChatView {...scenes.completed()} />);
    expect(document.querySelector('.completed')?.textContent).toBe(
      'Completed in 2 steps · 4.60 s · $0.0153Every voice at step 2',
    );
    expect(document.querySelector('.banner')).toBeNull();
  });

  it('a sentence about another run or another end is not shown', () => {
    const props = scenes.stopped();
    const trace = props.trace!;
    const { rerender } = render(<ChatView {...props} trace={{ ...trace, status: 'processing' }} />);
    expect(document.querySelector('.banner')).toBeNull();
    rerender(<ChatView {...props} trace={{ ...trace, executionId: 'exe_0' }} />);
    expect(document.querySelector('.banner')).toBeNull();
    rerender(
      <ChatView
        {...props}
        trace={null}
        detail={detailOf({ status: 'stopped', stop: stepsStop })}
      />,
    );
    expect(document.querySelector('.banner')).toBeTruthy();
  });

  it('a server that cannot be asked: what the stream said has to do', () => {
    vi.useFakeTimers();
    render(<ChatView {...scenes.stopped()} trace={null} />);
    expect(document.querySelector('.banner')).toBeNull();
    act(() => void vi.advanceTimersByTime(2_000));
    expect(document.querySelector('.banner')?.textContent).toContain(
      'The limit of steps was reached',
    );
  });

  it('a grant stays where the banner was, and the run goes on below it', () => {
    const wire = wireAt();
    const first = [
      wire.started(),
      wire.user('x'),
      wire.step(1),
      wire.tool('search', 'a', { q: '1' }),
      wire.toolDone('search', 'a', '[]'),
      wire.stepDone(1, true),
      wire.limit(),
    ];
    const { rerender } = render(<ChatView {...liveProps(first)} />);
    rerender(<ChatView {...liveProps(first)} grantState={{ kind: 'sending' }} />);
    const after = [...first, wire.started(), wire.step(2), wire.says('Going on.', 'msg_2', 2)];
    const granted = {
      kind: 'granted',
      text: 'Granted 5 steps · you · 14:11',
      at: '2026-01-16T14:11:00.000Z',
    } as const;
    rerender(<ChatView {...liveProps(after)} grantState={granted} />);
    const parts = [...document.querySelectorAll('.turn > *')].map((part) => part.className);
    expect(parts).toEqual(['day', 'visually-hidden', 'user', 'calls', 'granted', 'said']);
    expect(document.querySelector('.granted')?.textContent).toBe('Granted 5 steps · you · 14:11');
    expect(document.activeElement).toBe(screen.getByRole('log'));
  });

  it('busy: how long, which step of how many, and a way to stop', async () => {
    const asked: unknown[][] = [];
    const props = scenes.live();
    render(<ChatView {...props} session={sessionOf(props.session.state, {}, asked)} />);
    expect(document.querySelector('.composer-note')?.textContent).toBe('4 s · step 3 of 5');
    await userEvent.click(screen.getByRole('button', { name: 'Stop' }));
    expect(asked).toEqual([['stop']]);
    await userEvent.type(screen.getByPlaceholderText('Queue a message'), 'next{Enter}');
    expect(asked[1]).toEqual(['send', 'next']);
  });

  it('paused without a question: says so, and offers to resume', async () => {
    const wire = wireAt();
    const onResume = vi.fn();
    const stop = {
      lead: 'Waiting because',
      because: 'you paused it',
      goOnIf: 'you resumed it',
      note: null,
      action: { kind: 'resume', label: 'Resume' },
    } as const;
    const props = liveProps([wire.started(), wire.user('x'), wire.waits('x')]);
    render(<ChatView {...props} detail={detailOf({ stop })} onResume={onResume} />);
    await userEvent.click(screen.getByRole('button', { name: /Resume/ }));
    expect(onResume).toHaveBeenCalledOnce();
    expect(screen.getByRole<HTMLTextAreaElement>('textbox').disabled).toBe(true);
  });
});
