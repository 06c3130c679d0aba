// oxlint-disable-next-line import/no-unassigned-import -- it adds the matchers
import 'onward/evals/vitest';
import { AgentBuilder, createAgent, defineTool, type AgentState } from 'onward';
import { evalHarness, evalMatchers, evalRunOf } from 'onward/evals';
import { describe, expect, it } from 'vitest';
import { scriptOf } from '../setup/eval-script.ts';

const search = defineTool({
  name: 'search',
  description: 'Searches.',
  parameters: { type: 'object' },
  execute: () => ({ found: 3 }),
});
const fails = defineTool({
  name: 'fails',
  description: 'Fails.',
  execute: () => {
    throw new Error('no index, key sk-abcdefghijklmnopqrstuvwx');
  },
});
const answers = [
  {
    calls: [{ name: 'search', args: { q: 'a', limit: 2 } }],
    usage: { input: 1_000, output: 100 },
  },
  { calls: [{ name: 'search', args: { q: 'b' } }], usage: { input: 1_000, output: 100 } },
  { text: 'done', usage: { input: 1_000, output: 100 } },
];
const agent = createAgent({
  driver: scriptOf(answers, 'priced'),
  tools: [search, fails],
  prices: { priced: { input: 10, output: 10 } },
});

const failure = (check: () => void): string => {
  try {
    check();
  } catch (error) {
    return (error as Error).message;
  }
  throw new Error('it passed');
};

describe('the matchers', () => {
  it('accept states, their JSON and runs of a harness', async () => {
    const state: AgentState<string> = await agent.run('x');
    const run = await evalHarness({ agent }).run('x');
    for (const received of [state, state.toJSON(), run]) {
      expect(received).toHaveCalledTool('search');
      expect(received).toHaveCalledTool('search', { q: expect.stringMatching(/^a/) });
      expect(received).toHaveCalledTool('search', undefined, { times: 2 });
      expect(received).not.toHaveCalledTool('search', { q: 'c' });
      expect(received).toHaveStoppedBecause('completed');
      expect(received).not.toHaveStoppedBecause('steps_limit');
      expect(received).toCostLessThan(0.0331);
      expect(received).not.toCostLessThan(0.033);
    }
  });

  it('say what was seen', async () => {
    const state = await agent.run('x');
    expect(failure(() => expect(state).toHaveCalledTool('search', { q: 'c' }))).toBe(
      [
        'expected the run to call search with {"q":"c"}, and it was called never',
        'calls:',
        '  step 1: search {"q":"a","limit":2} → ok',
        '  step 2: search {"q":"b"} → ok',
      ].join('\n'),
    );
    expect(failure(() => expect(state).not.toHaveCalledTool('search'))).toContain(
      'expected the run not to call search\ncalls:\n  step 1: search',
    );
    expect(failure(() => expect(state).toHaveCalledTool('search', {}, { times: 1 }))).toContain(
      'expected the run to call search with {} once, and it was called twice',
    );
    expect(failure(() => expect(state).toHaveStoppedBecause('steps_limit'))).toContain(
      'expected the run to stop because of steps_limit, and it was completed\nCompleted (ToolCallPresenceCheck)',
    );
    expect(failure(() => expect(state).toCostLessThan(0.01))).toBe(
      'expected the run to cost less than $0.01, and it cost $0.0330 (3 steps, 3000 input and 300 output tokens)',
    );
  });

  it('show failed calls and runs without calls, and no secrets', async () => {
    const broken = await createAgent({
      driver: scriptOf([{ calls: [{ name: 'fails', args: {} }] }, { text: 'no' }]),
      tools: [fails],
    }).run('x');
    const said = failure(() => expect(broken).toHaveCalledTool('search'));
    expect(said).toMatch(/ {2}step 1: fails \{\} → error: .*no index/);
    expect(said).not.toContain('sk-');
    expect(broken).toHaveStoppedBecause('error');
    const plain = await createAgent({ driver: scriptOf([{ text: 'hi' }]) }).run('x');
    expect(failure(() => expect(plain).toHaveCalledTool('search'))).toContain(
      '(no tool was called)',
    );
    expect(failure(() => expect(plain).toCostLessThan(1))).toContain('The cost is unknown');
  });

  it('see calls of nested agents', async () => {
    const inner = createAgent({
      name: 'helper',
      driver: scriptOf([{ calls: [{ name: 'search', args: { q: 'deep' } }] }, { text: 'found' }]),
      tools: [search],
    });
    const outer = AgentBuilder.base()
      .withDriver(scriptOf([{ calls: [{ name: 'ask', args: { input: 'x' } }] }, { text: 'ok' }]))
      .withTools(inner.asTool({ name: 'ask', description: 'Asks.' }))
      .build();
    const run = await evalHarness({ agent: outer }).run('x');
    expect(run).toHaveCalledTool('search', { q: 'deep' });
    expect(run.calls.map(({ tool, agent: by, step }) => [tool, by, step])).toEqual([
      ['ask', null, 1],
      ['search', 'helper', 1],
    ]);
    expect(run.trace.steps).toHaveLength(2);
  });

  it('refuse what is no run', () => {
    expect(() => expect('text').toHaveCalledTool('search')).toThrow(
      'toHaveCalledTool got "text", expected a state, such as that of agent.run(...), or a run of a harness.',
    );
  });

  it('are plain functions, for other test runners', async () => {
    const run = evalRunOf(await agent.run('x'));
    expect(evalMatchers.toHaveCalledTool(run, 'search').pass).toBe(true);
    expect(evalMatchers.toHaveStoppedBecause(run, 'guard').message()).toContain('it was completed');
  });
});
