import { describe, expect, it } from 'vitest';
import { Message } from './message.ts';
import { Messages } from './messages.ts';
import { pairingProblem } from './pairing.ts';

const user = Message.user('u', { id: 'u' });
const says = Message.assistant('a', { id: 'a' });
const calls = (...ids: string[]): Message =>
  Message.assistant('', {
    id: 'c',
    toolCalls: ids.map((id) => ({ id, name: 'search', args: {} })),
  });
const result = (id: string): Message => Message.tool(id, 'r', { id: `r${id}` });

describe('pairingProblem', () => {
  it.each<[string, readonly Message[], string | null]>([
    ['nothing', [], null],
    ['no calls', [user, says], null],
    ['a call and its result', [user, calls('1'), result('1'), says], null],
    ['results in any order', [user, calls('1', '2'), result('2'), result('1')], null],
    ['an id used again later', [calls('1'), result('1'), calls('1'), result('1')], null],
    ['no result', [user, calls('1', '2'), result('1')], '2 is unanswered at the end'],
    [
      'a message comes before the result',
      [calls('1'), user, result('1')],
      'user message u comes while 1 is unanswered',
    ],
    ['a result without a call', [user, result('1')], 'tool message r1 answers no open call (1)'],
    [
      'two results',
      [calls('1'), result('1'), result('1')],
      'tool message r1 answers no open call (1)',
    ],
    ['one id twice in a message', [calls('1', '1')], 'call id 1 is used twice in message c'],
  ])('%s', (_what, messages, problem) => {
    expect(pairingProblem(messages)).toBe(problem);
    expect(Messages.from(messages).pairingProblem()).toBe(problem);
  });
});
