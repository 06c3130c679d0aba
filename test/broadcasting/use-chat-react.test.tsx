import { holdAt, open, stored, world } from './use-chat-page.ts'; // first, because it creates the DOM for React
import { act, waitFor } from '@testing-library/react';
import { mockTool, ScenarioStep } from 'onward/testing';
import { describe, expect, it } from 'vitest';
import { ann } from '../setup/sessions.ts';
import { shown } from './use-chat-setup.ts';

const { toolCall, toolCalls, final, stream, error } = ScenarioStep;

describe('useChat', () => {
  it('shows a conversation with streamed text, a tool result and a second turn', async () => {
    const here = await world(
      [[toolCall('look', { q: 1 }, 'Let me look.'), stream(['Found ', 'it.'])], [final('Bye.')]],
      [mockTool('look', { n: 7 })],
    );
    const page = open(here);
    const hold = holdAt(here, 'it.');
    await page.say('find it');
    await waitFor(() => expect(page.texts()[1]).toBe('assistant: Let me look. | Found '));
    expect(page.chat().status).toBe('streaming');
    hold.open();
    await page.ready();
    expect(shown(page.answer())).toEqual([
      { type: 'step-start' },
      { type: 'text', text: 'Let me look.', state: 'done' },
      {
        type: 'tool-look',
        toolCallId: 't0s0c0',
        state: 'output-available',
        input: { q: 1 },
        output: { n: 7 },
      },
      { type: 'step-start' },
      { type: 'text', text: 'Found it.', state: 'done' },
    ]);
    await page.say('bye');
    await page.ready();
    expect(page.texts()).toEqual([
      'user: find it',
      'assistant: Let me look. | Found it.',
      'user: bye',
      'assistant: Bye.',
    ]);
    expect(page.answer().metadata).toMatchObject({ status: 'completed', stopReason: 'completed' });
    expect(page.data).toContainEqual(
      expect.objectContaining({ data: { status: 'completed', step_count: 1 } }),
    );
    const kept = await stored(here);
    expect(kept.map(({ parts }) => shown({ parts }))).toMatchObject([
      [{ text: 'find it' }],
      shown(page.chat().messages[1]),
      [{ text: 'bye' }],
      shown(page.chat().messages[3]),
    ]);
    expect([kept[1]!.id, kept[3]!.id]).toEqual([
      page.chat().messages[1]!.id,
      page.chat().messages[3]!.id,
    ]);
  });

  it('shows a failed tool call', async () => {
    const here = await world(
      [[toolCall('look'), final('Sorry.')]],
      [mockTool('look', new Error('no such shelf'))],
    );
    const page = open(here);
    await page.say('find it');
    await page.ready();
    expect(shown(page.answer())[1]).toMatchObject({
      type: 'tool-look',
      state: 'output-error',
      errorText: 'no such shelf',
    });
  });

  it('continues the run after an approval and a denial with a reason', async () => {
    const pay = mockTool('pay', { paid: true }, { needsApproval: true });
    const calls = [
      { name: 'pay', args: { sum: 1 } },
      { name: 'pay', args: { sum: 2 } },
    ];
    const here = await world([[toolCalls(calls, 'May I?'), final('Paid one.')]], [pay]);
    const page = open(here);
    await page.say('pay');
    await page.ready();
    expect(shown(page.answer()).slice(2)).toMatchObject([
      { state: 'approval-requested', input: { sum: 1 } },
      { state: 'approval-requested', input: { sum: 2 } },
    ]);
    const id = page.answer().id;
    await page.approve('t0s0c0');
    await page.approve('t0s0c1', false, 'too much');
    await waitFor(() => expect(page.texts()[1]).toBe('assistant: May I? | Paid one.'));
    await page.ready();
    expect(page.chat().messages).toHaveLength(2);
    expect(page.answer().id).toBe(id);
    expect(shown(page.answer()).slice(2, 4)).toMatchObject([
      { state: 'output-available', output: { paid: true }, approval: { approved: true } },
      { state: 'output-denied', approval: { approved: false, reason: 'too much' } },
    ]);
    expect(pay.calls).toEqual([{ sum: 1 }]);
  });

  it('sends an approval after a reload from the store', async () => {
    const pay = mockTool('pay', { paid: true }, { needsApproval: true });
    const here = await world([[toolCall('pay', { sum: 1 }), final('Paid.')]], [pay]);
    const before = open(here);
    await before.say('pay');
    await before.ready();
    before.unmount();
    const page = open(here, { messages: await stored(here), resume: true });
    await page.ready();
    expect(shown(page.answer())).toEqual(shown(before.answer()));
    await page.approve('t0s0c0');
    await waitFor(() => expect(page.texts()).toEqual(['user: pay', 'assistant: Paid.']));
    expect(pay.calls).toHaveLength(1);
  });

  it('explains a limit and how to continue', async () => {
    const here = await world([[toolCall('look')]], [mockTool('look')], { maxSteps: 1 });
    const page = open(here);
    await page.say('go');
    await page.ready();
    expect(page.chat().error).toBeUndefined();
    expect(page.answer().parts.at(-1)).toMatchObject({
      type: 'data-onward-stop',
      data: { status: 'stopped', stop_reason: 'steps_limit', resolved_by: 'StepsLimit' },
    });
  });

  it('reports a response that is not a stream and a failed run as errors', async () => {
    const here = await world([[error('the model is away')], [final('Here again.')]]);
    const page = open(here);
    await page.say('go');
    await waitFor(() => expect(page.chat().status).toBe('error'));
    expect(page.chat().error?.message).toContain('the model is away');
    expect(page.answer().parts.at(-1)).toMatchObject({ data: { status: 'failed' } });
    await act(async () => void page.chat().regenerate());
    await waitFor(() => expect(page.texts().at(-1)).toBe('assistant: Here again.'));
    await page.ready();
    await act(async () => void page.chat().regenerate());
    await waitFor(() => expect(page.chat().status).toBe('error'));
    expect(page.chat().error?.message).toContain('regenerate_unsupported');
    const stranger = open({ ...here, api: `${here.api}/chat-2/stop` }, { id: 'chat-2' });
    await stranger.say('x');
    await waitFor(() => expect(stranger.chat().status).toBe('error'));
    expect(JSON.parse(stranger.chat().error!.message)).toEqual({
      error: { code: 'chat_not_found', message: 'There is no such chat.' },
    });
  });

  it('stop() closes the stream of this page, and the run continues', async () => {
    const here = await world([[stream(['one ', 'two'])], [final('next')]]);
    const page = open(here);
    const hold = holdAt(here, 'two');
    await page.say('go');
    await waitFor(() => expect(page.texts()[1]).toBe('assistant: one '));
    await act(() => page.chat().stop());
    await page.ready();
    hold.open();
    expect(await here.runtime.wait('chat-1', ann)).toMatchObject({ output: 'one two' });
    // a resume shows the whole answer in the same message
    await act(() => page.chat().resumeStream());
    await waitFor(() => expect(page.texts()).toEqual(['user: go', 'assistant: one two']));
    await page.say('more');
    await waitFor(() => expect(page.texts().at(-1)).toBe('assistant: next'));
  });

  it('stop() with stopOnAbort ends the run, and so does the stop route', async () => {
    for (const stopOnAbort of [true, false]) {
      const here = await world([[stream(['one ', 'two'])]], [], { stopOnAbort });
      const page = open(here);
      holdAt(here, 'two');
      await page.say('go');
      await waitFor(() => expect(page.texts()[1]).toBe('assistant: one '));
      if (!stopOnAbort) await fetch(`${here.api}/chat-1/stop`, { method: 'POST' });
      else await act(() => page.chat().stop());
      expect(await here.runtime.wait('chat-1', ann)).toMatchObject({
        stopReason: 'user_requested',
      });
      if (!stopOnAbort)
        await waitFor(() =>
          expect(page.answer().parts.at(-1)).toMatchObject({ data: { status: 'cancelled' } }),
        );
      await page.ready();
      page.unmount();
    }
  });
});
