import { describe, expect, it } from 'vitest';
import { delta, toolCall } from '../../../test/setup/loopback.ts';
import { events, readChat } from '../../../test/setup/read-chat.ts';
import { readCompletion } from './chat-completion.ts';

const keptIn = (...deltas: readonly Record<string, unknown>[]): unknown =>
  readChat(events(...deltas.map((d) => delta(d)), delta({}, 'stop'), '[DONE]')).response?.metadata;

describe('state of an answer for its server', () => {
  it('is empty if the server expects nothing back', () => {
    expect(keptIn({ content: 'a' })).toBeUndefined();
    expect(keptIn({ reasoning: 'Hm.' }, { content: 'a' })).toBeUndefined();
  });

  it('has the field of the reasoning, without its text', () => {
    expect(keptIn({ reasoning_content: 'Hm' }, { content: 'a' })).toEqual({
      chat: { server: 'http://test', reasoningField: 'reasoning_content' },
    });
  });

  it('has reasoning details of a call, assembled from their parts', () => {
    const details = (...list: readonly object[]) => ({ reasoning_details: list });
    expect(
      keptIn(
        details({ type: 'reasoning.text', index: 0, text: 'H', signature: null }),
        details({ type: 'reasoning.text', index: 0, text: 'm', signature: 's' }),
        details({ type: 'reasoning.encrypted', index: 1, data: 'x' }),
        { tool_calls: [{ index: 0, ...toolCall('x') }] },
      ),
    ).toMatchObject({
      chat: {
        reasoningDetails: [
          { type: 'reasoning.text', index: 0, text: 'Hm', signature: 's' },
          { type: 'reasoning.encrypted', index: 1, data: 'x' },
        ],
      },
    });
    expect(
      keptIn(details({ type: 'reasoning.text', text: 'Hm' }), { content: 'a' }),
    ).toBeUndefined();
  });

  it('has signatures of calls by position, streamed or whole', () => {
    const extra_content = { google: { thought_signature: 's' } };
    const expected = { chat: { server: 'http://test', calls: [null, extra_content] } };
    expect(
      keptIn(
        { tool_calls: [{ index: 0, ...toolCall('x') }] },
        { tool_calls: [{ index: 1, ...toolCall('y', {}, 'b'), extra_content }] },
      ),
    ).toEqual(expected);
    const message = { tool_calls: [toolCall('x'), { ...toolCall('y', {}, 'b'), extra_content }] };
    expect(readCompletion({ choices: [{ message }] }, 'http://test')?.metadata).toEqual(expected);
  });
});
