import { describe, expect, it } from 'vitest';
import {
  call,
  calls,
  end,
  isRead,
  piece,
  ways,
  type Sample,
} from '../../../test/setup/chat-samples.ts';
import { delta } from '../../../test/setup/loopback.ts';
import { events } from '../../../test/setup/read-chat.ts';

const calling: readonly Sample[] = [
  [
    'arguments in pieces, by index',
    events(
      calls(piece(0, 'a', 'x', '')),
      calls(piece(0, null, null, '{"q"')),
      calls(piece(1, 'b', 'y', '{}')),
      calls(piece(0, null, null, ':1}')),
      end('tool_calls'),
      '[DONE]',
    ),
    { toolCalls: [call('x', { q: 1 }, 'a'), call('y', {}, 'b')], finishReason: 'tool_calls' },
  ],
  [
    'the finish reason stop with calls',
    events(calls(piece(0, 'a', 'x', '{}')), end('stop'), '[DONE]'),
    { toolCalls: [call('x', {}, 'a')], finishReason: 'tool_calls' },
  ],
  [
    'no index, whole calls, as Mistral sends them',
    events(
      calls(piece(null, 'a', 'x', '{"q":1}'), piece(null, 'b', 'x', '{"q":2}')),
      end('tool_calls'),
    ),
    { toolCalls: [call('x', { q: 1 }, 'a'), call('x', { q: 2 }, 'b')] },
  ],
  [
    'no index, in pieces, which belong to the last call',
    events(
      calls(piece(null, 'a', 'x', '{"q":1}')),
      calls(piece(null, 'b', 'y', '{"q"')),
      calls(piece(null, null, null, ':2}')),
      end('tool_calls'),
    ),
    { toolCalls: [call('x', { q: 1 }, 'a'), call('y', { q: 2 }, 'b')] },
  ],
  [
    'no index and no id: a name after a complete call starts the next',
    events(
      calls(piece(null, null, 'x', '{"q":1}')),
      calls(piece(null, null, 'x', '{"q":2}')),
      end('tool_calls'),
    ),
    { toolCalls: [call('x', { q: 1 }), call('x', { q: 2 })] },
  ],
  [
    'index 0 for every call, with different ids, as Ollama sends it',
    events(
      calls(piece(0, 'a', 'x', '{"q":')),
      calls(piece(0, 'a', null, '1}')),
      calls(piece(0, 'b', 'x', '{"q":2}')),
      end('tool_calls'),
    ),
    { toolCalls: [call('x', { q: 1 }, 'a'), call('x', { q: 2 }, 'b')] },
  ],
  [
    'index 0 for every call, with empty ids',
    events(
      calls(piece(0, '', 'x', '{"q":1}')),
      calls(piece(0, '', 'x', '{"q":2}')),
      calls(piece(0, '', 'y', '{}')),
      end('stop'),
    ),
    { toolCalls: [call('x', { q: 1 }), call('x', { q: 2 }), call('y', {})] },
  ],
  [
    'one id for two calls of different index',
    events(calls(piece(0, 'a', 'x', '{"q":1}'), piece(1, 'a', 'x', '{"q":2}')), end('tool_calls')),
    { toolCalls: [call('x', { q: 1 }, 'a'), call('x', { q: 2 }, 'a')] },
  ],
  [
    'id and name repeated in every piece',
    events(
      calls(piece(0, 'a', 'x', '')),
      calls(piece(0, 'a', 'x', '{"q"')),
      calls(piece(0, 'a', 'x', ':1}')),
      '[DONE]',
    ),
    { toolCalls: [call('x', { q: 1 }, 'a')], finishReason: 'tool_calls' },
  ],
  [
    'the name repeated, the id missing',
    events(
      calls(piece(0, null, 'x', '{"q"')),
      calls(piece(0, null, 'x', ':1}')),
      end('tool_calls'),
    ),
    { toolCalls: [call('x', { q: 1 })] },
  ],
  [
    'an id that arrives late',
    events(calls(piece(0, null, 'x', '{')), calls(piece(0, 'a', null, '}')), end('tool_calls')),
    { toolCalls: [call('x', {}, 'a')] },
  ],
  [
    'an index that does not start at 0, or is a string',
    events(
      calls(piece(3, 'a', 'x', '{')),
      calls({ ...piece(null, null, null, '}'), index: '3' }),
      end('tool_calls'),
    ),
    { toolCalls: [call('x', {}, 'a')] },
  ],
  [
    'arguments as an object',
    events(
      calls({ index: 0, id: 'a', function: { name: 'x', arguments: { q: 1 } } }),
      end('tool_calls'),
    ),
    { toolCalls: [call('x', { q: 1 }, 'a')] },
  ],
  [
    'no arguments at all',
    events(calls(piece(0, 'a', 'x', '')), end('tool_calls')),
    { toolCalls: [call('x', {}, 'a')] },
  ],
  [
    'the legacy form of a call',
    events(
      delta({ function_call: { name: 'x', arguments: '{"q"' } }),
      delta({ function_call: { arguments: ':1}' } }),
      end('function_call'),
    ),
    { toolCalls: [call('x', { q: 1 })], finishReason: 'tool_calls' },
  ],
  [
    'text next to calls',
    events(delta('Let me look.'), calls(piece(0, 'a', 'x', '{}')), end('tool_calls')),
    { content: 'Let me look.', toolCalls: [call('x', {}, 'a')] },
  ],
  [
    'no finish reason and no [DONE], but every call is complete',
    events(calls(piece(0, 'a', 'x', '{"q":1}'))),
    { toolCalls: [call('x', { q: 1 }, 'a')], finishReason: 'tool_calls' },
  ],
];

/** Calls with unreadable arguments, which must never run. */
const unreadable: readonly (readonly [string, string, string, string])[] = [
  [
    'two concatenated values',
    events(
      calls(piece(0, 'a', 'x', '{"q":1}')),
      calls(piece(0, null, null, '{"q":1}')),
      end('tool_calls'),
    ),
    '{"q":1}{"q":1}',
    'tool_calls',
  ],
  [
    'two concatenated values with the same id and name',
    events(
      calls(piece(0, 'a', 'x', '{"q":1}')),
      calls(piece(0, 'a', 'x', '{"q":2}')),
      end('tool_calls'),
    ),
    '{"q":1}{"q":2}',
    'tool_calls',
  ],
  [
    'truncated, with finish reason tool_calls',
    events(calls(piece(0, 'a', 'x', '{"q":')), end('tool_calls')),
    '{"q":',
    'tool_calls',
  ],
  [
    'truncated by the limit',
    events(calls(piece(0, 'a', 'x', '{"q":')), end('length')),
    '{"q":',
    'length',
  ],
  [
    'truncated before the first argument',
    events(calls(piece(0, 'a', 'x', '')), end('length')),
    '',
    'length',
  ],
  ['a list', events(calls(piece(0, 'a', 'x', '[1]')), end('tool_calls')), '[1]', 'tool_calls'],
  ['a word', events(calls(piece(0, 'a', 'x', 'Paris')), end('tool_calls')), 'Paris', 'tool_calls'],
];

describe.each(ways)('a streamed answer, read %s', (_way, read) => {
  describe('calls', () => {
    it.each(calling)('%s', (_name, text, expected) => isRead(read(text), expected));
  });

  it.each(unreadable)('a call that cannot be read: %s', (_name, text, argsRaw, finishReason) => {
    const { response } = read(text);
    expect(response?.finishReason).toBe(finishReason);
    expect(response?.toolCalls).toEqual([{ id: 'a', name: 'x', argsRaw }]);
  });

  it('emits chunks of arguments that equal the calls', () => {
    const { chunks, response, shown } = read(
      events(
        delta('Hi'),
        calls(piece(0, 'a', 'x', '{"q"'), piece(1, '', 'y', '')),
        calls(piece(1, null, null, '{}'), piece(0, null, null, ':1}')),
        end('tool_calls'),
        '[DONE]',
      ),
    );
    const reported = chunks.filter((chunk) => chunk.type === 'tool_call');
    const argsOf = (index: number): string =>
      reported.map((chunk) => (chunk.index === index ? chunk.argsDelta : '')).join('');
    expect(shown).toBe('Hi');
    expect([argsOf(0), argsOf(1)]).toEqual(response?.toolCalls.map(({ argsRaw }) => argsRaw));
    expect(reported.find(({ index }) => index === 1)).toMatchObject({ id: null, name: 'y' });
  });
});
