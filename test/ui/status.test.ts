import { describe, expect, it } from 'vitest';
import type { Envelope } from 'onward/broadcasting';
import { newUiState, reduceEnvelope, type UiState } from 'onward/ui';
import { Wire } from './wire.ts';

const reduceAll = (envelopes: readonly Envelope[], state: UiState = newUiState()): UiState =>
  envelopes.reduce(reduceEnvelope, state);

describe('status lines', () => {
  const lines = ({ messages }: UiState) =>
    messages
      .filter(({ role }) => role === 'status')
      .map(({ content, metadata }) => `${metadata.status_type}: ${content}`);

  it('show the current activity in one line until the end', () => {
    const wire = new Wire().begin();
    const seen = [lines(reduceAll(wire.all))];
    const then = () => seen.push(lines(reduceAll(wire.all)));
    wire.toolStarted('c1');
    wire.toolStarted('c2', 'mail');
    then();
    wire.toolDone('c1');
    then();
    wire.toolDone('c2');
    then();
    wire.step(2);
    then();
    wire.status('completed', { stop_reason: 'completed', stop_message: 'Done.' });
    then();
    expect(seen).toEqual([
      ['thinking: Thinking…'],
      ['tool_call: Running stock, mail…'],
      ['tool_call: Running mail…'],
      ['tool_result: stock has answered.'],
      ['thinking: Thinking…'],
      [],
    ]);
  });

  it('D02: name the limit and the option to raise from the last envelope only', () => {
    const wire = new Wire();
    wire.status('stopped', {
      stop_reason: 'steps_limit',
      stop_message: 'The limit of steps was reached: 5 of 5 steps used.',
      resolved_by: 'StepsLimit',
      remedy: { text: 'raise the limit with withMaxSteps(...).', option: 'withMaxSteps(...)' },
      error_message: null,
      last_response: null,
    });
    const state = reduceAll(wire.all);
    expect(lines(state)).toEqual([
      'continuation: The limit of steps was reached: 5 of 5 steps used. ' +
        'To continue: raise the limit with withMaxSteps(...).',
    ]);
    expect(state.messages[0]?.metadata.continuation).toEqual({
      should_continue: false,
      stop_reason: 'steps_limit',
      resolved_by: 'StepsLimit',
      reason: 'The limit of steps was reached: 5 of 5 steps used.',
      remedy: { text: 'raise the limit with withMaxSteps(...).', option: 'withMaxSteps(...)' },
    });
    expect(state.stop).toMatchObject({ status: 'stopped', stop_reason: 'steps_limit' });
  });

  it('keep an error when the next run starts', () => {
    const first = new Wire('x1').begin();
    first.status('failed', {
      stop_reason: 'error',
      stop_message: 'An error ended the run: no key.',
    });
    const second = new Wire('x2', first.time).begin('Again');
    const state = reduceAll([...first.all, ...second.all]);
    expect(lines(state)).toEqual(['error: An error ended the run: no key.', 'thinking: Thinking…']);
    expect(state).toMatchObject({ status: 'processing', stop: null, executionId: 'x2' });
  });

  it('keep the stop when a grant continues the run, with the grant below it', () => {
    const wire = new Wire().begin();
    wire.status('stopped', { stop_reason: 'steps_limit', stop_message: 'At the limit.' });
    const stopped = reduceAll(wire.all);
    expect(lines(stopped)).toHaveLength(1);
    const grant = {
      amounts: { steps: 6 },
      by: 'ada',
      authority: 'owner',
      at: '2026-01-16T12:00:00.000Z',
    } as const;
    const again = reduceEnvelope(stopped, wire.status('processing', { grant }));
    expect(lines(again)).toEqual([
      'continuation: At the limit.',
      'info: You allowed 6 more steps.',
      'thinking: Thinking…',
    ]);
    expect(again.stop).toBeNull();
    // a second stop at the same step takes the place of the first
    const twice = reduceEnvelope(
      again,
      wire.status('stopped', { stop_reason: 'steps_limit', stop_message: 'Again.' }),
    );
    expect(lines(twice)).toEqual(['info: You allowed 6 more steps.', 'continuation: Again.']);
  });

  it('keep the same list of messages if nothing in it changes', () => {
    const wire = new Wire().begin();
    const state = reduceAll(wire.all);
    const next = reduceEnvelope(state, wire.stepDone(1));
    expect(next.usage.total).toBe(15);
    expect(next.messages).toBe(state.messages);
  });
});
