import { describe, expect, it } from 'vitest';
import type { CacheMark } from '../../messages/cache-mark.ts';
import { Message } from '../../messages/message.ts';
import { Messages } from '../../messages/messages.ts';
import type { InferenceRequest } from '../inference-driver.ts';
import { cacheMarks, SYSTEM, toolPlace, type MarkWire } from './cache-marks.ts';

const wire: MarkWire = { isAuto: true, onTools: true, onResults: true };
const user = (cache?: CacheMark): Message => Message.user('u', cache ? { cache } : {});
const calls = Message.assistant('', { toolCalls: [{ id: 'a', name: 'x', args: {} }] });
const result = Message.tool('a', 'r');
const answer = Message.assistant('ok');
const tool = (cache?: '5m' | '1h') => ({
  name: 'x',
  description: 'X.',
  parameters: {},
  ...(cache && { cache }),
});

/** Words of the places with marks, in their order: `t0`, `sys`, `m0 1h`. */
function placed(
  messages: readonly Message[],
  more: Partial<InferenceRequest> = {},
  on: Partial<MarkWire> = {},
  most?: number,
): string[] {
  const tools = more.tools ?? [tool(), tool()];
  const request = { system: 's', tools, messages: Messages.from(messages), ...more };
  const names = new Map(tools.map((_, i) => [toolPlace(i, tools.length), `t${i}`]));
  return Array.from(cacheMarks(request, { ...wire, ...on }, most), ([place, ttl]) => {
    const name = place === SYSTEM ? 'sys' : (names.get(place) ?? `m${place}`);
    return ttl === '5m' ? name : `${name} ${ttl}`;
  });
}

describe('D83: places of cache marks', () => {
  const auto = { tools: [tool('5m'), tool('5m')], systemCache: '5m' } as const;

  it.each<[string, string[], string[]]>([
    ['a first message', placed([user()]), ['sys', 'm0']],
    ['a step with results', placed([user(), calls, result, result]), ['sys', 'm0', 'm3']],
    ['results after results', placed([user(), calls, result, calls, result]), ['sys', 'm2', 'm4']],
    ['a new turn', placed([user(), answer, user()]), ['sys', 'm0', 'm2']],
    ['two messages in a row, as one end', placed([user(), user()]), ['sys', 'm1']],
    ['a paused turn', placed([user(), answer]), ['sys', 'm0']],
    ['no message', placed([]), ['sys']],
    ['no system prompt', placed([user()], { system: null }), ['t1', 'm0']],
    ['a blank system prompt', placed([user()], { system: ' ' }), ['t1', 'm0']],
    ['no system prompt and no tools', placed([user()], { system: null, tools: [] }), ['m0']],
    ['a system prompt that changes', placed([user()], { systemCache: false }), ['t1']],
    [
      'a system prompt that changes, no marks on tools',
      placed([user()], { systemCache: false }, { onTools: false }),
      [],
    ],
    ['a blank end', placed([user(), answer, Message.user(' ')]), ['sys', 'm0']],
    [
      'no marks on results',
      placed([user(), calls, result], {}, { onResults: false }),
      ['sys', 'm0'],
    ],
    ['a wire without automatic ones', placed([user()], {}, { isAuto: false }), []],
    [
      'more marks than places, by precedence',
      placed([user(true), answer, user(true), answer, user(true)], auto),
      ['t1', 'sys', 'm2', 'm4'],
    ],
    [
      'other tools, if there is a place',
      placed([user()], { tools: [tool('5m'), tool('5m')] }, { isAuto: false }),
      ['t0', 't1'],
    ],
    [
      'a tool where tools accept none',
      placed([user()], { tools: [tool('1h'), tool()] }, { isAuto: false, onTools: false }),
      ['sys 1h'],
    ],
    [
      'a tool where tools accept none, without a system prompt',
      placed([user()], { tools: [tool('1h')], system: null }, { isAuto: false, onTools: false }),
      [],
    ],
    [
      'an hour after 5 minutes',
      placed([user('1h'), answer, user(true)], auto),
      ['t1 1h', 'sys 1h', 'm0 1h', 'm2'],
    ],
    [
      'a message of the system, and an answer',
      placed(
        [Message.system('s', { cache: true }), user(), Message.assistant('a', { cache: true })],
        {},
        { isAuto: false },
      ),
      ['m0', 'm2'],
    ],
    ['a place that is taken', placed([user(), answer, user(true)], {}, {}, 2), ['sys', 'm2']],
  ])('%s', (_what, places, expected) => {
    expect(places).toEqual(expected);
  });

  it('are none without a wire', () => {
    const request = { system: 's', tools: [], messages: Messages.from([user(true)]) };
    expect(cacheMarks(request, null).size).toBe(0);
  });
});
