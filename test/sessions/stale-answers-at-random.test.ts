import { AgentBuilder, type AgentError } from 'onward';
import { memoryStore } from 'onward/stores/memory';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { keyValueStore } from '../../src/sessions/stores/key-value/index.ts';
import { mapDriver } from '../setup/key-values.ts';
import { gated } from '../setup/session-moments.ts';
import { ann, runtimeOn } from '../setup/sessions.ts';

/** Events of a session in any order. `nth` is the age of the question that an answer names. */
const moves = fc.array(
  fc.oneof(
    fc.constant({ do: 'ask' } as const),
    fc.constant({ do: 'talk' } as const),
    fc.constant({ do: 'stop' } as const),
    fc.constant({ do: 'prune' } as const),
    fc.constant({ do: 'answer', nth: null } as const),
    fc.nat(3).map((nth) => ({ do: 'answer', nth }) as const),
  ),
  { minLength: 3, maxLength: 14 },
);

const openers = [
  ['memory', () => memoryStore()],
  ['key-value', () => keyValueStore(mapDriver())],
] as const;

describe.each(openers)('D91: every order of turns, stops and late answers (%s)', (_name, open) => {
  it('an answer runs only the call that it was given for', async () => {
    await fc.assert(
      fc.asyncProperty(moves, async (steps) => {
        const ran: unknown[] = [];
        const danger = gated('danger', ({ n }: { n: number }) => ran.push(n));
        const agent = AgentBuilder.base()
          .withDriver({
            name: 'parrot',
            infer: async ({ messages }) => {
              const last = messages.last();
              const n = last?.isUser() ? /^ask (\d+)$/.exec(last.text)?.[1] : undefined;
              const toolCalls =
                n === undefined ? [] : [{ id: 'c1', name: 'danger', args: { n: Number(n) } }];
              return { content: 'ok', toolCalls, finishReason: 'stop', usage: null };
            },
          })
          .withTools(danger)
          .build();
        const runtime = runtimeOn(open(), agent);
        await runtime.create({ ...ann, id: 's' });
        /** Each question that was ever shown. */
        const shown: { n: number; executionId: string; argsHash: string }[] = [];
        const expected: number[] = [];
        for (const move of steps) {
          const session = await runtime.get('s', ann);
          const [pending] = session.pendingApprovals;
          if (move.do === 'ask' || move.do === 'talk') {
            if (pending) continue;
            const text = move.do === 'ask' ? `ask ${shown.length}` : 'talk';
            const { pendingApprovals } = await runtime.send('s', text, { ...ann, wait: true });
            for (const { executionId, argsHash } of pendingApprovals)
              shown.push({ n: shown.length, executionId: executionId!, argsHash: argsHash! });
          } else if (move.do === 'stop') await runtime.stop('s', { ...ann, wait: true });
          else if (move.do === 'prune')
            await runtime.prune({ olderThan: '9999-01-01', owner: ann.owner });
          else {
            const named = move.nth === null ? null : shown.at(-1 - move.nth);
            if (named === undefined) continue;
            const code = await runtime
              .approve('s', 'c1', { ...ann, ...named, wait: true })
              .then(() => null)
              .catch((error: AgentError) => error.code);
            const isCurrent = pending && (named ? named === shown.at(-1) : shown.length === 1);
            expect(code === null).toBe(isCurrent === true);
            if (isCurrent) expected.push(shown.length - 1);
            else if (pending) expect(code).toBe('stale_approval');
          }
          expect(ran).toEqual(expected);
        }
      }),
      { numRuns: 40 },
    );
  });
});
