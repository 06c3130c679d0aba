import { describe, expect, it } from 'vitest';
import type { ToolCallItem } from '../../react/tool-calls.tsx';
import type { TraceBar } from '../../trace/trace.ts';
import type { UiMetadata } from '../../ui/ui-message.ts';
import { callStatusOf } from './call-status.ts';
import type { CallFact } from './trace-facts.ts';

const item = (metadata: UiMetadata, content = ''): ToolCallItem => ({
  call: { id: 'c1', name: 'pay', args: {}, args_summary: '{}' },
  state: metadata.tool_error === undefined ? 'done' : 'error',
  result: { id: 'm1', role: 'tool', content, timestamp: '', metadata },
});

const fact = (state: TraceBar['state']): CallFact => ({
  step: 1,
  bar: {
    kind: 'tool',
    name: 'pay',
    callId: 'c1',
    at: 0,
    durationMs: 0,
    state,
    error: null,
    retry: null,
    pausedMs: 0,
    answer: null,
  },
});

describe('callStatusOf', () => {
  it.each([
    ['tool_failed', 'failed'],
    ['tool_timeout', 'timeout'],
    ['timeout', 'timeout'],
    ['effect_unknown', 'lost'],
    ['bad_arguments', 'failed'],
    ['a_code_of_a_later_release', 'failed'],
    ['constructor', 'failed'],
  ])('returns the error of a call with the code %s as %s', (code, kind) => {
    const row = item({ tool_error: 'no money', tool_error_code: code, tool_result: 'Error: no' });
    expect(callStatusOf(row, null)).toEqual({ kind, reason: 'no money', isFailure: true });
  });

  it.each(['denied', 'aborted', 'blocked'] as const)(
    'returns the result text of a call with the code %s and no failure',
    (kind) => {
      const row = item({ tool_error: kind, tool_error_code: kind, tool_result: 'Not today.' });
      expect(callStatusOf(row, null)).toEqual({ kind, reason: 'Not today', isFailure: false });
    },
  );

  it.each([
    'Denied by a person: no',
    'Not finished: a stop was requested.',
    'Not run: last step',
    'whether it took effect is unknown',
    'timed out',
  ])('does not read the result text %j', (text) => {
    const failed = { tool_error: text, tool_error_code: 'tool_failed', tool_result: text };
    expect(callStatusOf(item(failed, text), null).kind).toBe('failed');
    expect(callStatusOf(item({ tool_result: text }, text), null).kind).toBe('done');
  });

  it('reads the trace if the result has no error code', () => {
    const row = item({ tool_error: 'denied', tool_result: 'Denied by a person: no' });
    expect(callStatusOf(row, null).kind).toBe('failed');
    expect(callStatusOf(row, fact('denied')).kind).toBe('denied');
    expect(callStatusOf(row, fact('error')).kind).toBe('failed');
  });

  it('returns the summary of a truncated result text', () => {
    const tool_result = { summary: 'Denied by', ref: '7.result.exe_1' };
    const row = item({ tool_error: 'denied', tool_error_code: 'denied', tool_result }, 'Denied by');
    expect(callStatusOf(row, null).reason).toBe('Denied by');
  });

  it('returns "none" for a call without a result after the run', () => {
    const row: ToolCallItem = { ...item({}), result: null, state: 'open' };
    expect(callStatusOf(row, null)).toEqual({ kind: 'none', reason: '', isFailure: false });
  });
});
