import type { SessionRuntime } from 'onward';
import type { InferenceDriver } from 'onward/drivers';
import { memoryStore } from 'onward/stores/memory';
import { fakeClock, ScenarioStep } from 'onward/testing';
import { expect, it } from 'vitest';
import { usageOf } from '../../src/inference/usage.ts';
import { call, isSummaryRequest, longAgent, longModel } from '../setup/long-conversations.ts';
import { mortal } from '../setup/mortal-store.ts';
import {
  ann,
  builderWith,
  clientOn,
  followingDriver,
  gate,
  isSound,
  runtimeOn,
  until,
} from '../setup/sessions.ts';

const { toolCall, final } = ScenarioStep;

/** A model whose first call behind a summary never answers. Counts the tokens of its answers. */
function hangingModel() {
  const model = longModel({
    answer: (_, n) =>
      n < 14
        ? { ...call('look', { page: n }), content: 'word '.repeat(100) }
        : { content: 'Done.' },
  });
  const hangs = gate();
  let isHung = false;
  let paid = 0;
  const infer: InferenceDriver['infer'] = async (request, options) => {
    if (!isHung && model.summaries.length === 1 && !isSummaryRequest(request)) {
      isHung = true;
      hangs.open();
      await new Promise((_resolve, reject) => {
        options?.signal?.addEventListener('abort', () => reject(new Error('aborted')));
      });
    }
    const answer = await model.infer(request, options);
    paid += usageOf(answer.usage).total;
    return answer;
  };
  return { ...model, infer, hangs, paid: () => paid };
}

type Ends = (first: { runtime: SessionRuntime; die(): void }, client: SessionRuntime) => unknown;

const endings: readonly (readonly [string, Ends])[] = [
  ['a stop', (_, client) => client.stop('s', ann)],
  ['a handover', ({ runtime }) => runtime.close({ graceMs: 0 })],
  ['a kill', ({ die }) => die()],
  ['a kill and a stop', ({ die }, client) => (die(), client.stop('s', ann))],
  [
    'a handover and a stop',
    async ({ runtime }, client) => {
      await runtime.close({ graceMs: 0 });
      await client.stop('s', ann);
    },
  ],
];

it.each(endings.flatMap(([name, end]) => [false, true].map((n) => [name, n, end] as const)))(
  'D68: what a summary used is counted once after %s between its write and the step (nested: %s)',
  async (name, isNested, end) => {
    const model = hangingModel();
    const outer = followingDriver([
      toolCall('deeper', { input: 'Read.' }, '', { usage: { input: 40, output: 2, total: 42 } }),
      final('Read.', { usage: { input: 40, output: 2, total: 42 } }),
    ]);
    const make = () => {
      const inner = longAgent(model).withCompaction({ atTokens: 3_000, clearToolResults: false });
      if (!isNested) return inner.withName('support').build();
      const tool = inner.build().asTool({ name: 'deeper', description: 'Reads.' });
      return builderWith(outer, tool).build();
    };
    const clock = fakeClock();
    const store = memoryStore({ clock });
    const life = mortal(store);
    const client = clientOn(store, make());
    const first = { runtime: runtimeOn(life.store, make()), die: life.die };
    await client.create({ ...ann, id: 's' });
    await client.send('s', 'go', ann);
    await first.runtime.recover();
    await model.hangs.passed;
    await end(first, client);
    clock.jump(20_000);
    const second = runtimeOn(store, make());
    await second.recover();
    const { status } = await until(async () => {
      const now = await client.get('s', ann);
      return now.status === 'in_progress' ? null : now;
    });
    expect(status).toBe(name.endsWith('stop') ? 'stopped' : 'completed');
    const state = await client.state('s', ann);
    const paid = model.paid() + (isNested ? outer.requests.length * 42 : 0);
    expect(model.summaries.length).toBeGreaterThan(0);
    expect([state.info.usage.total, state.usage.total]).toEqual([paid, paid]);
    if (isNested) expect(state.execution.family).toMatchObject([{ tokens: model.paid() }]);
    const [header] = [await client.get('s', ann)];
    expect(header.usage.total).toBe(paid);
    await isSound(client, 's');
  },
);
