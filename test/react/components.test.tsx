// @vitest-environment happy-dom
import { cleanup, fireEvent, render, screen, waitFor, within } from '@testing-library/react';
import { userEvent } from '@testing-library/user-event';
import axe from 'axe-core';
import { useState, type ReactElement } from 'react';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { Envelope } from '../../src/broadcasting/envelope.ts';
import {
  AgentChat,
  AgentUiProvider,
  ApprovalView,
  Approvals,
  Composer,
  Conversation,
  StopExplanation,
  ToolCallView,
  UsageView,
  ValueView,
  useAgentSession,
} from '../../src/react/index.ts';
import type { SessionAction } from '../../src/ui/sources/session-actions.ts';
import { newUiState } from '../../src/ui/book.ts';
import { reduceEnvelope } from '../../src/ui/reduce-envelope.ts';
import type { UiMessage } from '../../src/ui/ui-message.ts';
import type { UiApproval, UiState, UiStop } from '../../src/ui/ui-state.ts';
import { fakeSource, Wire } from './fake-source.ts';

afterEach(cleanup);

/** What axe holds to be serious or worse; colours need a real browser. */
async function serious(): Promise<string[]> {
  const { violations } = await axe.run(document.body, {
    rules: { 'color-contrast': { enabled: false }, region: { enabled: false } },
  });
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.html).join()}`);
}

const stateAfter = (...envelopes: readonly Envelope[]): UiState =>
  envelopes.reduce(reduceEnvelope, newUiState());
const approval: UiApproval = {
  tool: 'delete_lead',
  tool_call_id: 'call_1',
  args: { id: 'lead_7', notify: true },
  args_summary: '{"id":"lead_7","notify":true}',
  execution_id: 'exe_1',
  agent_id: 'agt_1',
};
const failed = (about: string, kind: SessionAction['kind'] = 'approve'): SessionAction => ({
  id: 'act_1',
  kind,
  about,
  status: 'failed',
  error: new Error('the server answered 503'),
});
const call = {
  id: 'call_1',
  name: 'search',
  args: { q: 'Nordlicht' },
  args_summary: '{"q":"Nordlicht"}',
};
const result = (metadata: UiMessage['metadata']): UiMessage => ({
  id: 'res_1',
  role: 'tool',
  content: '',
  timestamp: '',
  metadata: { tool_call_id: 'call_1', tool_name: 'search', ...metadata },
});

describe('ToolCallView', () => {
  it('is folded to one line: name, arguments, how it stands, how long it took', async () => {
    render(
      <ToolCallView
        call={call}
        state="done"
        result={result({ tool_result: { rows: 3 }, tool_duration_ms: 312 })}
      />,
    );
    const row = screen.getByRole('group');
    expect(row.hasAttribute('open')).toBe(false);
    expect(row.querySelector('summary')?.textContent).toBe('searchq: Nordlichtdone0.31 s');
    expect(row.querySelector('pre')).toBeNull();
    expect(await serious()).toEqual([]);
  });

  it('opens for arguments and result', async () => {
    render(
      <ToolCallView
        call={call}
        state="done"
        result={result({
          tool_result: { rows: [{ id: 1, name: 'Nordlicht Growth', owner: 'Mara Lindqvist' }] },
        })}
      />,
    );
    const details = screen.getByRole<HTMLDetailsElement>('group');
    details.open = true;
    fireEvent(details, new Event('toggle'));
    expect(screen.getByLabelText('Arguments').textContent).toBe('{ "q": "Nordlicht" }');
    expect(screen.getByLabelText('Result').textContent).toContain(
      '\n      "name": "Nordlicht Growth"',
    );
    expect(await serious()).toEqual([]);
  });

  it('a failed one is open by itself and marked in words; the reader may close it', () => {
    const props = {
      call,
      state: 'error',
      result: result({ tool_error: 'timeout: no answer within 5 s' }),
    } as const;
    const { rerender } = render(<ToolCallView {...props} />);
    const details = document.querySelector('details')!;
    expect(details.open).toBe(true);
    expect(details.getAttribute('data-state')).toBe('error');
    expect(screen.getByText('timeout: no answer within 5 s')).toBeTruthy();
    expect(screen.getByText('failed')).toBeTruthy();
    details.open = false;
    fireEvent(details, new Event('toggle'));
    rerender(<ToolCallView {...props} />);
    expect(details.open).toBe(false);
  });

  it('D66: arguments are shown while the model writes them', () => {
    const partial = {
      id: 'c',
      name: '',
      args: '{"q":"Nord',
      args_summary: '{"q":"Nord',
      partial: true,
    } as const;
    render(<ToolCallView call={partial} state="writing" result={null} />);
    expect(screen.getByText('{"q":"Nord')).toBeTruthy();
    expect(screen.getByText('being written')).toBeTruthy();
  });
});

describe('ValueView', () => {
  it('folds long values', async () => {
    render(
      <ValueView value={{ rows: Array.from({ length: 50 }, (_, id) => id) }} label="Result" />,
    );
    expect(screen.getByLabelText('Result').textContent?.split('\n')).toHaveLength(15);
    await userEvent.click(screen.getByRole('button', { name: 'Show all 54 lines' }));
    expect(screen.getByLabelText('Result').textContent).toContain('49');
  });

  it('a cut value is fetched on request; a failure can be tried again', async () => {
    const fetchRef = vi
      .fn()
      .mockRejectedValueOnce(new Error('503'))
      .mockResolvedValue({ whole: true });
    render(
      <AgentUiProvider fetchRef={fetchRef}>
        <ValueView value={{ summary: '{"who…', ref: '3.result.exe' }} label="Result" />
      </AgentUiProvider>,
    );
    expect(screen.getByText('{"who…')).toBeTruthy();
    await userEvent.click(screen.getByRole('button', { name: 'Show all' }));
    expect(await screen.findByText(/That did not work: 503/)).toBeTruthy();
    await userEvent.click(screen.getByRole('button', { name: 'Show all' }));
    expect(await screen.findByText('{ "whole": true }')).toBeTruthy();
    expect(fetchRef).toHaveBeenCalledWith('3.result.exe');
  });

  it('an object that has more than summary and ref is no cut value', () => {
    render(<ValueView value={{ summary: 'a', ref: 'b', id: 1 }} label="Result" />);
    expect(screen.getByLabelText('Result').textContent).toContain('"id": 1');
  });
});

describe('ApprovalView', () => {
  const view = (props: Partial<Parameters<typeof ApprovalView>[0]> = {}) => {
    const onApprove = vi.fn();
    const onDeny = vi.fn();
    render(
      <ApprovalView
        approval={approval}
        action={null}
        onApprove={onApprove}
        onDeny={onDeny}
        {...props}
      />,
    );
    return { onApprove, onDeny };
  };

  it('shows the arguments and is approved by keyboard: approve comes first', async () => {
    const { onApprove } = view();
    expect(screen.getByRole('region', { name: 'Run delete_lead?' })).toBeTruthy();
    expect(screen.getByText('lead_7')).toBeTruthy();
    expect(await serious()).toEqual([]);
    await userEvent.tab();
    expect(document.activeElement?.textContent).toBe('Approve');
    await userEvent.keyboard('{Enter}');
    expect(onApprove).toHaveBeenCalledExactlyOnceWith('call_1');
  });

  it('edits as JSON; says what is wrong, sends nothing that is not an object, and Escape leaves', async () => {
    const { onApprove } = view();
    const edit = screen.getByRole('button', { name: 'Edit arguments' });
    await userEvent.click(edit);
    const field = screen.getByRole<HTMLTextAreaElement>('textbox', { name: 'Arguments as JSON' });
    expect(document.activeElement).toBe(field);
    expect(JSON.parse(field.value)).toEqual(approval.args);
    for (const [text, problem] of [
      ['{ "id": ', 'This is not JSON'],
      ['[1]', 'Arguments are an object'],
      ['"x"', 'Arguments are an object'],
      ['null', 'Arguments are an object'],
    ] as const) {
      fireEvent.change(field, { target: { value: text } });
      expect(field.getAttribute('aria-invalid')).toBe('true');
      await userEvent.click(screen.getByRole('button', { name: 'Approve with changes' }));
      expect(screen.getByRole('alert').textContent).toContain(problem);
      expect(document.activeElement).toBe(field);
    }
    expect(await serious()).toEqual([]);
    expect(onApprove).not.toHaveBeenCalled();
    await userEvent.keyboard('{Escape}');
    await waitFor(() => expect(document.activeElement?.textContent).toBe('Edit arguments'));
    await userEvent.keyboard('{Enter}');
    fireEvent.change(screen.getByRole('textbox'), { target: { value: '{"id":"lead_8"}' } });
    await userEvent.click(screen.getByRole('button', { name: 'Approve with changes' }));
    expect(onApprove).toHaveBeenCalledExactlyOnceWith('call_1', { id: 'lead_8' });
  });

  it('is denied with a reason, never without', async () => {
    const { onDeny } = view();
    await userEvent.click(screen.getByRole('button', { name: 'Deny…' }));
    const field = screen.getByRole('textbox', { name: 'Why not?' });
    expect(document.activeElement).toBe(field);
    await userEvent.keyboard('   {Enter}');
    expect(onDeny).not.toHaveBeenCalled();
    await userEvent.keyboard('wrong lead{Enter}');
    expect(onDeny).toHaveBeenCalledExactlyOnceWith('call_1', 'wrong lead');
  });

  it('shows what became of the answer, and an error until it is dismissed', async () => {
    const onDismiss = vi.fn();
    const props = { approval, onApprove: vi.fn(), onDeny: vi.fn(), onDismiss };
    const { rerender } = render(
      <ApprovalView {...props} action={{ ...failed('call_1'), status: 'pending', error: null }} />,
    );
    expect(screen.getByRole('status').textContent).toBe('Sending…');
    expect(screen.queryByRole('button')).toBeNull();
    rerender(<ApprovalView {...props} action={failed('call_1')} />);
    expect(screen.getByRole('alert').textContent).toContain('the server answered 503');
    await userEvent.click(screen.getByRole('button', { name: 'Dismiss' }));
    expect(onDismiss).toHaveBeenCalledWith('act_1');
    expect(screen.getByRole('button', { name: 'Approve' })).toBeTruthy();
  });

  it('arguments of which only the beginning came cannot be edited', () => {
    view({ approval: { ...approval, args: { summary: '{"id":', ref: '1.args.x' } } });
    expect(screen.queryByRole('button', { name: 'Edit arguments' })).toBeNull();
    expect(screen.getByText('Only the beginning is shown.')).toBeTruthy();
  });

  it('the focus goes on: to the next question, then to where the page says', async () => {
    const second = { ...approval, tool: 'second', tool_call_id: 'call_2' };
    const Page = (): ReactElement => {
      const [left, setLeft] = useState<readonly UiApproval[]>([approval, second]);
      const [field, setField] = useState<HTMLInputElement | null>(null);
      const gone = (id: string): void =>
        setLeft((all) => all.filter(({ tool_call_id }) => tool_call_id !== id));
      return (
        <>
          <Approvals
            approvals={left}
            actions={[]}
            onApprove={gone}
            nextFocus={{ current: field }}
          />
          <input ref={setField} aria-label="next" />
        </>
      );
    };
    render(<Page />);
    await userEvent.click(
      within(screen.getByRole('region', { name: 'Run delete_lead?' })).getByText('Approve'),
    );
    expect(document.activeElement?.textContent).toBe('Run second?');
    await userEvent.tab();
    await userEvent.keyboard('{Enter}');
    expect(document.activeElement).toBe(screen.getByLabelText('next'));
  });

  it('a question that somebody else answers does not take the focus from where it is', () => {
    const { rerender } = render(
      <>
        <input aria-label="elsewhere" />
        <Approvals approvals={[approval]} actions={[]} />
      </>,
    );
    screen.getByLabelText('elsewhere').focus();
    rerender(
      <>
        <input aria-label="elsewhere" />
        <Approvals approvals={[]} actions={[]} />
      </>,
    );
    expect(document.activeElement).toBe(screen.getByLabelText('elsewhere'));
  });
});

describe('StopExplanation', () => {
  const limit = stateAfter(new Wire().limit()).stop!;
  const stopOf = (more: Partial<UiStop>): UiStop => ({ ...limit, ...more });

  it('D02: says why, what would let it go on, names the option, and grants exactly that', async () => {
    const onResume = vi.fn();
    render(<StopExplanation stop={limit} action={null} onResume={onResume} />);
    const box = screen.getByRole('region', { name: 'Stopped' });
    expect(box.textContent).toContain(
      'The limit of steps was reached: 5 of 5 steps, and a tool result is unread.',
    );
    expect(box.textContent).toContain('It would go on with 5 more steps.');
    expect(box.textContent).toContain('withMaxSteps(...)');
    expect(await serious()).toEqual([]);
    await userEvent.click(screen.getByRole('button', { name: 'Grant 5 steps' }));
    expect(onResume).toHaveBeenCalledExactlyOnceWith({ steps: 5 });
  });

  it.each<[string, Partial<UiStop>, string | null, string]>([
    [
      'tokens',
      { remedy: { text: 't', grant: { tokens: 20_000 } } },
      'Grant 20,000 tokens',
      '20,000 more tokens',
    ],
    ['money', { remedy: { text: 't', grant: { cost: 0.05 } } }, 'Grant $0.05', '$0.05 more'],
    [
      'one retry',
      { remedy: { text: 't', grant: { retries: 1 } } },
      'Grant 1 retry',
      '1 more retry',
    ],
    [
      'two kinds',
      { remedy: { text: 't', grant: { steps: 1, seconds: 60 } } },
      'Grant 1 step and 60 seconds',
      '1 more step and 60 more seconds',
    ],
    [
      'no grant',
      { remedy: { text: 'raise the limit with withSessionSteps(9).' } },
      null,
      'Raise the limit with withSessionSteps(9).',
    ],
    [
      'a pause',
      { status: 'paused', stop_reason: null, remedy: { text: 'resume the session.' } },
      'Resume',
      'Resume the session.',
    ],
    [
      'an error',
      { status: 'failed', stop_message: 'An error ended the run.', error_message: 'tool: boom' },
      'Grant 5 steps',
      'tool: boom',
    ],
    [
      'completed',
      {
        status: 'completed',
        stop_reason: 'completed',
        remedy: null,
        stop_message: 'Done: it answered.',
      },
      null,
      'Done: it answered.',
    ],
  ])('%s', (_case, more, button, text) => {
    render(<StopExplanation stop={stopOf(more)} action={null} onResume={() => {}} />);
    expect(document.body.textContent).toContain(text);
    expect(screen.queryByRole('button')?.textContent ?? null).toBe(button);
  });

  it('is granted once: while the server works on it, a click does nothing', async () => {
    const onResume = vi.fn();
    render(
      <StopExplanation
        stop={limit}
        action={{ ...failed('', 'resume'), status: 'pending', error: null }}
        onResume={onResume}
      />,
    );
    const button = screen.getByRole('button', { name: 'Going on…' });
    expect(button.getAttribute('aria-disabled')).toBe('true');
    await userEvent.click(button);
    expect(onResume).not.toHaveBeenCalled();
  });
});

describe('Composer', () => {
  it('Enter sends and empties it, Shift+Enter makes a line, an input method keeps its Enter', async () => {
    const onSend = vi.fn();
    render(<Composer onSend={onSend} blockedBy={null} />);
    const box = screen.getByRole<HTMLTextAreaElement>('textbox', { name: 'Message' });
    await userEvent.type(box, 'one{Shift>}{Enter}{/Shift}two');
    expect(box.value).toBe('one\ntwo');
    fireEvent.keyDown(box, { key: 'Enter', isComposing: true });
    expect(onSend).not.toHaveBeenCalled();
    await userEvent.keyboard('{Enter}');
    expect(onSend).toHaveBeenCalledExactlyOnceWith('one\ntwo');
    expect(box.value).toBe('');
    await userEvent.keyboard('   {Enter}');
    expect(onSend).toHaveBeenCalledTimes(1);
    expect(await serious()).toEqual([]);
  });

  it('while nothing can be sent it says why, keeps the draft, and offers to stop', async () => {
    const onSend = vi.fn();
    const onStop = vi.fn();
    const { rerender } = render(<Composer onSend={onSend} blockedBy="It works." onStop={onStop} />);
    const box = screen.getByRole<HTMLTextAreaElement>('textbox', { name: 'Message' });
    expect(box.placeholder).toBe('It works.');
    await userEvent.type(box, 'next{Enter}');
    expect(onSend).not.toHaveBeenCalled();
    expect(box.value).toBe('next');
    expect(document.getElementById(box.getAttribute('aria-describedby')!)?.textContent).toBe(
      'It works.',
    );
    await userEvent.click(screen.getByRole('button', { name: 'Stop' }));
    expect(onStop).toHaveBeenCalledTimes(1);
    rerender(<Composer onSend={onSend} blockedBy={null} />);
    expect(box.value).toBe('next');
    await userEvent.type(box, '{Enter}');
    expect(onSend).toHaveBeenCalledWith('next');
  });
});

describe('Conversation', () => {
  const html = '<img src=x onerror="globalThis.hacked=1"><script>globalThis.hacked=1</script>';

  it('what the model writes never becomes HTML, wherever it stands', () => {
    const wire = new Wire();
    const state = stateAfter(
      wire.started(),
      wire.user(html),
      wire.says(html),
      wire.tool(html, 'c1', { [html]: html }),
      wire.toolDone(html, 'c1', html, html),
      wire.asks('remove', 'c2', { [html]: html }),
      wire.ends('failed', {
        stop_message: html,
        error_message: `${html}!`,
        remedy: { text: html, option: html },
      }),
    );
    render(
      <Conversation state={state}>
        <Approvals approvals={[{ ...approval, tool: html, args: { [html]: html } }]} actions={[]} />
        <StopExplanation stop={state.stop!} action={null} />
      </Conversation>,
    );
    expect(document.querySelectorAll('img, script')).toHaveLength(0);
    expect((globalThis as { hacked?: number }).hacked).toBeUndefined();
    expect(document.body.textContent).toContain('<script>');
  });

  it('results sit under their calls, raw JSON beside a call is left out, a result without its call is shown', () => {
    const wire = new Wire();
    const state = stateAfter(
      wire.started(),
      wire.step(1),
      wire.says('{"tool":"search"}', 'm1'),
      wire.tool('search', 'c1'),
      wire.toolDone('search', 'c1', 'found'),
    );
    const orphan = {
      ...result({ tool_result: 'alone' }),
      id: 'o',
      metadata: { tool_call_id: 'x', tool_name: 'lost' },
    };
    render(<Conversation state={{ ...state, messages: [orphan, ...state.messages] }} />);
    expect(screen.queryByText('{"tool":"search"}')).toBeNull();
    expect(
      [...document.querySelectorAll('[data-onward="tool-name"]')].map((name) => name.textContent),
    ).toEqual(['lost', 'search']);
  });

  it('is a log that says finished answers once, and not each chunk or what was there before', async () => {
    const old: UiMessage = {
      id: 'old',
      role: 'assistant',
      content: 'old words',
      timestamp: '',
      metadata: {},
    };
    const wire = new Wire();
    let state = newUiState([old]);
    const { rerender } = render(<Conversation state={state} />);
    const bring = (...envelopes: readonly Envelope[]): void => {
      state = envelopes.reduce(reduceEnvelope, state);
      rerender(<Conversation state={state} />);
    };
    expect(screen.getByRole('log').getAttribute('aria-live')).toBe('off');
    const said = (): string | null =>
      document.querySelector('[data-onward="announcer"]')!.textContent;
    bring(wire.started(), wire.user('hi'), wire.step(1), wire.chunk('Hel', 0), wire.chunk('lo', 1));
    expect(said()).toBe('');
    bring(wire.says('Hello'));
    expect(said()).toBe('Hello');
    bring(wire.asks('remove', 'c1', {}), wire.waits('remove'));
    expect(said()).toContain('Run remove?');
    bring(wire.started(), wire.limit());
    expect(said()).toContain('The limit of steps was reached');
    expect(said()).not.toContain('Hello');
    expect(await serious()).toEqual([]);
  });

  it('D56: text of a try that was discarded disappears', () => {
    const wire = new Wire();
    const begun = [wire.started(), wire.user('hi'), wire.step(1), wire.chunk('Half an ans', 0)];
    const { rerender } = render(<Conversation state={stateAfter(...begun)} />);
    expect(screen.getByText('Half an ans').closest('[data-streaming]')).toBeTruthy();
    rerender(
      <Conversation
        state={stateAfter(...begun, wire.make('agent.stream.discarded', { step: 1, attempt: 1 }))}
      />,
    );
    expect(screen.queryByText('Half an ans')).toBeNull();
  });

  it('only what changed is drawn again', () => {
    const drawn: string[] = [];
    const ToolCall = ({ call }: { call: { id: string } }): null => {
      drawn.push(call.id);
      return null;
    };
    const wire = new Wire();
    let state = stateAfter(
      wire.started(),
      wire.user('hi'),
      wire.step(1),
      wire.tool('a', 'c1'),
      wire.toolDone('a', 'c1', 'x'),
      wire.stepDone(1, true),
      wire.step(2),
    );
    const components = { ToolCall };
    const page = (): ReactElement => (
      <AgentUiProvider components={components}>
        <Conversation state={state} />
      </AgentUiProvider>
    );
    const { rerender } = render(page());
    expect(drawn).toEqual(['c1']);
    for (let i = 0; i < 5; i++) {
      state = reduceEnvelope(state, wire.chunk(`word ${i} `, i, 2, 'm2'));
      rerender(page());
    }
    expect(screen.getByText(/word 4/)).toBeTruthy();
    expect(drawn).toEqual(['c1']);
  });

  it('follows the end unless the reader has scrolled up; then it says that there is more', async () => {
    const wire = new Wire();
    let state = stateAfter(wire.started(), wire.user('hi'));
    const { rerender } = render(<Conversation state={state} />);
    const log = screen.getByRole('log');
    let height = 1_000;
    Object.defineProperties(log, {
      scrollHeight: { get: () => height, configurable: true },
      clientHeight: { get: () => 400, configurable: true },
    });
    const grow = (): void => {
      height += 100;
      state = reduceEnvelope(state, wire.says(`${height}`, `m${height}`));
      rerender(<Conversation state={state} />);
    };
    grow();
    expect(log.scrollTop).toBe(1_100);
    log.scrollTop = 200;
    fireEvent.scroll(log);
    grow();
    expect(log.scrollTop).toBe(200);
    await userEvent.click(screen.getByRole('button', { name: 'New below' }));
    expect(log.scrollTop).toBe(1_200);
    expect(screen.queryByRole('button', { name: 'New below' })).toBeNull();
    grow();
    expect(log.scrollTop).toBe(1_300);
  });
});

describe('AgentChat', () => {
  it('says everything in another language, and lets parts be replaced', async () => {
    const { source, sink } = fakeSource();
    const Page = (): ReactElement => {
      const session = useAgentSession({ source, actions: { send: async () => {} } });
      return (
        <AgentChat
          session={session}
          labels={{
            placeholder: 'Nachricht schreiben',
            empty: 'Noch nichts.',
            send: 'Senden',
            message: 'Nachricht',
          }}
          renderText={(text) => <b>{text.toUpperCase()}</b>}
          components={{ Stop: ({ stop }) => <p>{`My own: ${stop.stop_reason}`}</p> }}
        />
      );
    };
    render(<Page />);
    expect(screen.getByText('Noch nichts.')).toBeTruthy();
    expect(screen.getByPlaceholderText('Nachricht schreiben')).toBeTruthy();
    const wire = new Wire();
    for (const envelope of [
      wire.started(),
      wire.user('hi'),
      wire.says('hello'),
      wire.stepDone(1),
      wire.limit(),
    ])
      sink().envelope(envelope);
    expect(await screen.findByText('HELLO')).toBeTruthy();
    expect(screen.getByText('My own: steps_limit')).toBeTruthy();
    expect(screen.getByText('1,234 tokens')).toBeTruthy();
    // the stop is said once, not in a line of the conversation too
    expect(document.body.textContent).not.toContain('Stopped at the step limit');
    expect(await serious()).toEqual([]);
  });

  it('without an action its control is not there', () => {
    const { source } = fakeSource();
    const Page = (): ReactElement => <AgentChat session={useAgentSession({ source })} />;
    render(<Page />);
    expect(screen.queryByRole('textbox')).toBeNull();
  });
});

it('UsageView says steps and tokens, and nothing before there are any', async () => {
  const { container, rerender } = render(
    <UsageView usage={{ input: 0, output: 0, total: 0 }} stepCount={0} />,
  );
  expect(container.textContent).toBe('');
  rerender(<UsageView usage={{ input: 1_000, output: 234, total: 1_234 }} stepCount={2} />);
  expect(container.textContent).toBe('2 steps1,234 tokens1,000 in, 234 out');
});
