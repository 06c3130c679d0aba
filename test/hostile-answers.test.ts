import { AgentBuilder, AgentState, ErrorPolicy } from 'onward';
import { mockTool } from 'onward/testing';
import { describe, expect, it } from 'vitest';
import { isRecord } from '../src/json.ts';
import { wires, type Said, type Wire } from './setup/provider-wires.ts';
import { ScriptedProvider } from './setup/scripted-provider.ts';

const half = '\ud83d';
const mb = (n: number): string => 'x'.repeat(n * 1_000_000);
const nested = (levels: number): string => '{"a":'.repeat(levels) + '1' + '}'.repeat(levels);
const numbered = (n: number, id: (i: number) => string): Said => ({
  text: 'Working.',
  calls: Array.from({ length: n }, (_, i) => ({ name: 'work', args: { i }, id: id(i) })),
});
const withArgs = (args: string, name = 'work'): Said => ({
  text: 'Working.',
  calls: [{ name, args }],
});

/** Answers that a broken or hostile server may give, and how many calls run. Packages refuse some of them. */
const answers: readonly (readonly [string, Said, number])[] = [
  ['5,000 calls', numbered(5_000, (i) => `call_${i}`), 128],
  ['calls that share one id', numbered(40, () => 'same'), 40],
  ['calls without ids', numbered(40, () => ''), 40],
  [
    'ids that are keys of prototypes',
    numbered(3, (i) => ['__proto__', 'constructor', 'toString'][i]!),
    3,
  ],
  ['ids of a megabyte', numbered(3, (i) => mb(1) + String(i)), 3],
  ['arguments of 5 MB', withArgs(`{"x":"${mb(5)}"}`), 0],
  ['arguments of 5 MB that are no JSON', withArgs(`{"x":"${mb(5)}`), 0],
  ['arguments nested 3,000 levels', withArgs(nested(3_000)), 0],
  [
    'keys of prototypes in arguments',
    withArgs('{"__proto__":{"isAdmin":true},"constructor":{"isAdmin":true}}'),
    1,
  ],
  ['halves of characters in arguments', withArgs(`{"x":"a\\ud83d","\\ude00":1}`), 1],
  ['a tool named __proto__', withArgs('{}', '__proto__'), 0],
  ['a tool named constructor', withArgs('{}', 'constructor'), 0],
  ['a name of a megabyte', withArgs('{}', mb(1)), 0],
  ['half of a character as a name', withArgs('{}', half), 0],
  [
    'halves of characters in text and thought',
    { text: `Hi ${half} there`, thought: `Hm ${half}`, calls: [{ name: 'work' }] },
    1,
  ],
  [
    'a text of 300 KB in 60,000 pieces',
    { text: 'x'.repeat(300_000), calls: [{ name: 'work' }] },
    1,
  ],
];

/** Texts in a request that are not well-formed, also inside of JSON texts. */
function* brokenTexts(value: unknown): Generator<string> {
  if (typeof value === 'string') {
    if (/\p{Surrogate}/u.test(value)) yield value.slice(0, 40);
    else if (/^[[{]/.test(value)) {
      try {
        yield* brokenTexts(JSON.parse(value));
      } catch {}
    }
  } else if (Array.isArray(value)) for (const item of value) yield* brokenTexts(item);
  else if (isRecord(value))
    for (const [key, inner] of Object.entries(value)) {
      yield* brokenTexts(key);
      yield* brokenTexts(inner);
    }
}

const cpuMs = (): number => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
};

/** Gives the answer, then `next`: the state after two turns, and the requests. */
async function runOn(wire: Wire, said: Said, isStream: boolean) {
  const provider = new ScriptedProvider(wire, [said]);
  const work = mockTool('work', 'done');
  const agent = AgentBuilder.base()
    .withModel(provider.model)
    .withTools(work)
    .withErrorPolicy(ErrorPolicy.production().withBackoff({ initialMs: 0 }))
    .build();
  const options = isStream ? { wiretap: () => {} } : {};
  const before = cpuMs();
  const state = await agent.run('go', options);
  const stored = AgentState.from(JSON.parse(JSON.stringify(state)));
  const after = await agent.run(stored.withUserMessage('more'), options);
  return { state, after, provider, work, cpu: cpuMs() - before };
}

describe.each(wires)('D90: $name', (wire) => {
  it.each(
    answers.flatMap(([what, said, runs]) =>
      [true, false].map(
        (isStream) => [what, isStream ? 'streamed' : 'whole', said, runs, isStream] as const,
      ),
    ),
  )(
    '%s, %s: the run ends, the conversation stays whole and the next turn is accepted',
    async (_what, _how, said, runs, isStream) => {
      const { state, after, provider, work, cpu } = await runOn(wire, said, isStream);
      expect(state.status).toBe('completed');
      expect(after.output).toBe('next');
      expect(provider.problems).toEqual([]);
      // some packages reject an answer, which is a failed call that is retried
      const rejected = state.steps.at(0)?.type === 'error';
      if (rejected) expect(state.steps.at(0)?.errors[0]).toMatchObject({ type: 'validation' });
      expect(work.calls.length).toBe(rejected ? 0 : runs);
      for (const call of work.calls)
        expect((call as { isAdmin?: unknown }).isAdmin).toBeUndefined();
      expect(({} as { isAdmin?: unknown }).isAdmin).toBeUndefined();
      expect(state.messages.pairingProblem()).toBeNull();
      for (const body of provider.bodies) expect([...brokenTexts(body)]).toEqual([]);
      expect(JSON.stringify(state)).not.toContain('__proto__":{');
      expect(cpu).toBeLessThan(8_000);
    },
  );
});
