import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Message } from '../messages/message.ts';
import { pairingProblem } from '../messages/pairing.ts';
import { selectTurns } from './turns.ts';

/** Builds messages: s system, d developer, u user, y synthetic user, a assistant, c a tool call with its result. */
function history(script: string): Message[] {
  return [...script].flatMap((letter, i) => {
    if (letter === 's') return [Message.system('s')];
    if (letter === 'd') return [Message.developer('d')];
    if (letter === 'u') return [Message.user('u')];
    if (letter === 'y') return [Message.user('y', { metadata: { synthetic: true } })];
    if (letter === 'a') return [Message.assistant('a')];
    const toolCalls = [
      { id: `c${i}`, name: 't', args: {} },
      { id: `d${i}`, name: 't', args: {} },
    ];
    return [
      Message.assistant('', { toolCalls }),
      ...toolCalls.map(({ id }) => Message.tool(id, 'r')),
    ];
  });
}

const letters = (messages: readonly Message[]): string =>
  messages
    .map((m) => (m.isTool() ? 'r' : m.toolCalls.length > 0 ? 'c' : String(m.content)))
    .join('');

function select(script: string, maxMessages: number | null, maxTurns: number | null = null) {
  const messages = history(script);
  const { kept, ...rest } = selectTurns(messages, { maxMessages, maxTurns });
  return { kept: letters(kept.map((place) => messages[place]!)), ...rest };
}

describe('selectTurns', () => {
  it.each<[string, number | null, string, number, string]>([
    ['uauaua', null, 'uauaua', 0, 'no limit'],
    ['uauaua', 6, 'uauaua', 0, 'all fit'],
    ['uauaua', 5, 'uaua', 1, 'only whole turns'],
    ['uauaua', 4, 'uaua', 1, 'the newest'],
    ['suauaua', 5, 'suaua', 1, 'a system message counts and stays'],
    ['uasuadua', 4, 'sdua', 2, 'system and developer messages stay in their positions'],
    ['uacua', 4, 'ua', 1, 'a turn with calls is removed as a whole'],
    ['uauyaya', 6, 'uyaya', 1, 'a synthetic message starts no turn'],
    ['auaua', 4, 'uaua', 1, 'a greeting before the first question is the oldest turn'],
    ['uauu', 2, 'uu', 1, 'a question without an answer is a turn'],
    ['', 3, '', 0, 'nothing to keep'],
    ['ss', 1, 'ss', 0, 'system messages stay even beyond the limit'],
  ])('%s within %s is %s, %i turns removed: %s', (script, max, kept, droppedTurns) => {
    expect(select(script, max)).toMatchObject({ kept, droppedTurns });
  });

  it('keeps the newest turn whole at any length, and reports it', () => {
    expect(select('uaucca', 3)).toEqual({
      kept: 'ucrrcrra',
      droppedTurns: 1,
      keptTurns: 1,
      turnOverLimit: 8,
    });
    expect(select('uaucca', 8).turnOverLimit).toBe(0);
  });

  it('limits the number of turns', () => {
    expect(select('uauaua', null, 2)).toMatchObject({ kept: 'uaua', keptTurns: 2 });
    expect(select('uauaua', 2, 2)).toMatchObject({ kept: 'ua', keptTurns: 1 });
  });

  it('D67: keeps every call with its results, for any history and limit', () => {
    const script = fc
      .array(fc.constantFrom('u', 'u', 'a', 'c', 'c', 'y', 's', 'd'), { maxLength: 40 })
      .map((list) => list.join(''));
    fc.assert(
      fc.property(script, fc.integer({ min: 1, max: 30 }), fc.nat({ max: 5 }), (text, max, n) => {
        const messages = history(text);
        const { kept } = selectTurns(messages, { maxMessages: max, maxTurns: n === 0 ? null : n });
        const shown = kept.map((place) => messages[place]!);
        expect(pairingProblem(shown)).toBeNull();
        const systems = messages.filter((m) => m.isSystem());
        expect(shown.filter((m) => m.isSystem())).toEqual(systems);
        const rest = messages.filter((m) => !m.isSystem());
        const tail = shown.filter((m) => !m.isSystem());
        expect(tail).toEqual(rest.slice(rest.length - tail.length));
        if (rest.length > 0) expect(tail.length).toBeGreaterThan(0);
      }),
      { numRuns: 500 },
    );
  });
});
