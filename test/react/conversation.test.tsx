// @vitest-environment happy-dom
import { cleanup, fireEvent, render, screen } from '@testing-library/react';
import { userEvent } from '@testing-library/user-event';
import { type ReactElement } from 'react';
import { afterEach, describe, expect, it } from 'vitest';
import type { Envelope } from '../../src/broadcasting/envelope.ts';
import {
  AgentUiProvider,
  ApprovalList,
  Conversation,
  StopExplanation,
} from '../../src/react/index.ts';
import { newUiState } from '../../src/ui/reducer-state.ts';
import { reduceEnvelope } from '../../src/ui/reduce-envelope.ts';
import type { UiMessage } from '../../src/ui/ui-message.ts';
import { seriousInDocument } from '../setup/axe-dom.ts';
import { Wire } from './fake-source.ts';
import { stateAfter, result, approval } from './component-fixtures.ts';

afterEach(cleanup);

describe('Conversation', () => {
  const html = '<img src=x onerror="globalThis.hacked=1"><script>globalThis.hacked=1</script>';

  it('renders no HTML of models and tools', () => {
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
        <ApprovalList
          approvals={[{ ...approval, tool: html, args: { [html]: html } }]}
          actions={[]}
        />
        <StopExplanation stop={state.stop!} action={null} />
      </Conversation>,
    );
    expect(document.querySelectorAll('img, script')).toHaveLength(0);
    expect((globalThis as { hacked?: number }).hacked).toBeUndefined();
    expect(document.body.textContent).toContain('<script>');
  });

  it('shows results with their calls, hides raw JSON next to a call, and shows a result without a call', () => {
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

  it('announces finished answers once, but no chunks and no earlier messages', async () => {
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
    expect(await seriousInDocument()).toEqual([]);
  });

  it('D56: removes text of a discarded attempt', () => {
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

  it('renders only changed rows again', () => {
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

  it('follows the end unless the user has scrolled up, and then shows a button', async () => {
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

describe('reasoning', () => {
  const row = (metadata: UiMessage['metadata'], content = 'Seven.'): UiMessage => ({
    id: 'm1',
    role: 'assistant',
    content,
    timestamp: '',
    metadata,
  });
  const stateOf = (message: UiMessage) => newUiState([message]);

  it('is collapsed, opens on request, and stays open when the message is finished', async () => {
    const html = '<b>Because</b>\nof that';
    const thinking = {
      ...stateOf(row({})),
      status: 'processing',
      messages: [row({ reasoning: html, streaming: true }, '')],
    } as const;
    const { rerender } = render(<Conversation state={thinking} />);
    const summary = screen.getByText('Reasoning');
    const block = summary.closest('details')!;
    expect([block.open, document.body.textContent?.includes('Because')]).toEqual([false, false]);
    await userEvent.click(summary);
    const text = screen.getByRole('group', { name: 'Reasoning' });
    expect(text.textContent).toBe(html);
    expect(text.tabIndex).toBe(0);
    expect(await seriousInDocument()).toEqual([]);
    rerender(<Conversation state={stateOf(row({ reasoning: `${html}.` }))} />);
    expect(screen.getByRole('group', { name: 'Reasoning' }).textContent).toBe(`${html}.`);
    expect(document.querySelector('.onward-text')?.textContent).toBe('Seven.');
  });

  it('is not shown for a message without it', () => {
    render(<Conversation state={stateOf(row({}))} />);
    expect(document.querySelector('details')).toBeNull();
  });
});
