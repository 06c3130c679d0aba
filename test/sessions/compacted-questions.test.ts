import { defineTool } from 'onward';
import { ScenarioStep } from 'onward/testing';
import { expect, it } from 'vitest';
import { Messages } from '../../src/messages/messages.ts';
import { usageOf } from '../../src/inference/usage.ts';
import { call, longAgent, longModel } from '../setup/long-conversations.ts';
import {
  ann,
  builderWith,
  followingDriver,
  isSound,
  places,
  runtimeOn,
  waiting,
} from '../setup/sessions.ts';

const { toolCall, final } = ScenarioStep;
const usage = { input: 40, output: 2, total: 42 };

/** Asks the user each time that it is called. */
const ask = defineTool({
  name: 'ask',
  description: 'Asks the user.',
  execute: (_args, { input, requestInput }) =>
    input
      ? `answered ${input.answers['sure']?.action} at ${input.state}`
      : requestInput({ sure: { message: 'Sure?', schema: { type: 'object' } } }, { state: 'p6' }),
});

const cases = places.flatMap(([place, make]) =>
  [false, true].map((isNested) => [place, isNested, make] as const),
);

it.each(cases)(
  'D67: a question of a tool stays open across compactions, and another process continues (%s, nested: %s)',
  async (_place, isNested, makePlace) => {
    const asks = (n: number): boolean => n === 8 || n === 16;
    const look = (page: number) => ({ name: 'look', args: { page } });
    const model = longModel({
      answer: (_, n) =>
        n > 20
          ? { content: 'Done.' }
          : {
              ...call('look'),
              content: 'word '.repeat(100),
              toolCalls: asks(n) ? [look(n), { name: 'ask', args: {} }] : [look(n)],
            },
    });
    const outer = followingDriver([
      toolCall('deeper', { input: 'Read.' }, '', { usage }),
      final('Read.', { usage }),
    ]);
    const place = makePlace();
    /** A process that shares only the rows. */
    const open = () => {
      const inner = longAgent(model).withTools(ask).withCompaction({ atTokens: 2_000 });
      if (!isNested) return runtimeOn(place.open(), inner.withName('support').build());
      const tool = inner.build().asTool({ name: 'deeper', description: 'Reads.' });
      return runtimeOn(place.open(), builderWith(outer, tool).build());
    };
    let runtime = open();
    await runtime.create({ ...ann, id: 's' });
    let session = await runtime.send('s', 'go', waiting);
    const summaries: number[] = [];
    for (let asked = 0; session.status === 'paused'; asked++) {
      expect(asked).toBeLessThan(2);
      expect(session).toMatchObject({
        pause: { kind: 'input' },
        pendingInputs: [{ message: 'Sure?' }],
      });
      summaries.push(model.summaries.length);
      await runtime.close();
      runtime = open();
      const [{ inputId } = { inputId: '' }] = session.pendingInputs;
      const answer = { action: 'accept', content: {} } as const;
      session = await runtime.answer('s', inputId, { ...waiting, answer });
    }
    expect(session).toMatchObject({ status: 'completed', pendingInputs: [] });
    // before the first question, between both, and after the second
    expect(summaries).toHaveLength(2);
    expect([0, ...summaries, model.summaries.length]).toEqual([
      ...new Set([0, ...summaries, model.summaries.length]),
    ]);
    for (const { messages } of [...model.requests, ...model.summaries])
      expect(Messages.from(messages).pairingProblem()).toBeNull();
    const answered = new Set(
      model.requests.flatMap(({ messages }) =>
        messages.flatMap(({ text }) => (text.startsWith('answered') ? [text] : [])),
      ),
    );
    expect([...answered]).toEqual(['answered accept at p6']);
    const paid = [...model.requests, ...model.summaries].length * 10;
    expect(session.usage.output).toBe(paid + (isNested ? 2 * usageOf(usage).output : 0));
    await isSound(runtime, 's');
  },
);
