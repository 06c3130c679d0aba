// @vitest-environment happy-dom
import { cleanup, fireEvent, render, screen } from '@testing-library/react';
import { userEvent } from '@testing-library/user-event';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { AgentUiProvider, ToolCallView, ValueView } from '../../src/react/index.ts';
import { seriousInDocument } from '../setup/axe-dom.ts';
import { call, result } from './component-fixtures.ts';

afterEach(cleanup);

describe('ToolCallView', () => {
  it('is collapsed to name, arguments, state and duration', async () => {
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
    expect(await seriousInDocument()).toEqual([]);
  });

  it('shows arguments and result when it opens', async () => {
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
    expect(await seriousInDocument()).toEqual([]);
  });

  it('opens a failed call, which the user can close', () => {
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

  it('D66: shows streamed arguments', () => {
    const partial = {
      id: 'c',
      name: '',
      args: '{"q":"Nord',
      args_summary: '{"q":"Nord',
      partial: true,
    } as const;
    render(<ToolCallView call={partial} state="writing" result={null} />);
    expect(screen.getByText('{"q":"Nord')).toBeTruthy();
    expect(screen.getByText('writing arguments…')).toBeTruthy();
  });
});

describe('ValueView', () => {
  it('collapses long values', async () => {
    render(
      <ValueView value={{ rows: Array.from({ length: 50 }, (_, id) => id) }} label="Result" />,
    );
    expect(screen.getByLabelText('Result').textContent?.split('\n')).toHaveLength(15);
    await userEvent.click(screen.getByRole('button', { name: 'Show all 54 lines' }));
    expect(screen.getByLabelText('Result').textContent).toContain('49');
  });

  it('fetches a truncated value on request, and again after an error', async () => {
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
    expect(await screen.findByText(/It failed: 503/)).toBeTruthy();
    await userEvent.click(screen.getByRole('button', { name: 'Show all' }));
    expect(await screen.findByText('{ "whole": true }')).toBeTruthy();
    expect(fetchRef).toHaveBeenCalledWith('3.result.exe');
  });

  it('shows an object with more fields than summary and ref as a normal value', () => {
    render(<ValueView value={{ summary: 'a', ref: 'b', id: 1 }} label="Result" />);
    expect(screen.getByLabelText('Result').textContent).toContain('"id": 1');
  });
});
