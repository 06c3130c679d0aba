// @vitest-environment happy-dom
import { cleanup, fireEvent, render, screen } from '@testing-library/react';
import { AgentUiProvider, Conversation } from 'onward/react';
import { afterEach, expect, it, vi } from 'vitest';
import { compactionRow } from '../../src/ui/compaction-row.ts';
import type { UiMessage } from '../../src/ui/ui-message.ts';
import { seriousInDocument } from '../setup/axe-dom.ts';

afterEach(cleanup);

const row = (kind: 'summary' | 'tool_results'): UiMessage =>
  compactionRow({
    id: 'cmp_1',
    timestamp: '2026-01-16T12:00:00.000Z',
    kind,
    messages: 182,
    tokensBefore: 96_000,
    tokensAfter: 1_200,
    summaryRef: kind === 'summary' ? 'summary:cmp_1' : undefined,
  });

const shows = (message: UiMessage, fetchRef: (ref: string) => Promise<string>): void => {
  const state = { messages: [message], status: 'completed', approvals: [], stop: null } as const;
  render(
    <AgentUiProvider fetchRef={fetchRef}>
      <Conversation state={state} />
    </AgentUiProvider>,
  );
};

it('shows what the model is no longer sent, and its summary as plain text on demand', async () => {
  const fetchRef = vi.fn(async () => 'Ada <b>pays</b> by invoice.');
  shows(row('summary'), fetchRef);
  expect(
    screen.getByText('Earlier messages summarized: 182 messages, 96k → 1.2k tokens'),
  ).toBeDefined();
  expect(fetchRef).not.toHaveBeenCalled();
  fireEvent.click(screen.getByRole('button', { name: 'Show summary', expanded: false }));
  const summary = await screen.findByText('Ada <b>pays</b> by invoice.');
  expect(summary.querySelector('b')).toBeNull();
  expect(fetchRef.mock.calls).toEqual([['summary:cmp_1']]);
  expect(await seriousInDocument()).toEqual([]);
  fireEvent.click(screen.getByRole('button', { name: 'Hide summary', expanded: true }));
  expect(screen.queryByText('Ada <b>pays</b> by invoice.')).toBeNull();
  fireEvent.click(screen.getByRole('button', { name: 'Show summary' }));
  expect(screen.getByText('Ada <b>pays</b> by invoice.')).toBeDefined();
  expect(fetchRef).toHaveBeenCalledTimes(1);
});

it('says why a summary cannot be shown', async () => {
  shows(row('summary'), () => Promise.reject(new Error('It was deleted.')));
  fireEvent.click(screen.getByRole('button', { name: 'Show summary' }));
  expect((await screen.findByRole('alert')).textContent).toContain('It was deleted.');
});

it('offers nothing to open if only tool results were left out', () => {
  shows(row('tool_results'), async () => '');
  expect(screen.getByText('Earlier tool results left out: 96k → 1.2k tokens')).toBeDefined();
  expect(screen.queryByRole('button')).toBeNull();
});
