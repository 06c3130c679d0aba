import { AgentBuilder, defineTool, type Tool } from 'onward';
import { ScenarioStep } from 'onward/testing';
import { describe, expect, it } from 'vitest';
import { followingDriver } from '../setup/sessions.ts';
import { cli, worldOf, type FakeWorld } from './cli.ts';

const { toolCalls, final } = ScenarioStep;
const calls = (...names: readonly string[]): ScenarioStep =>
  toolCalls(names.map((name, i) => ({ id: `call_${i + 1}`, name })));

const form = {
  type: 'object',
  properties: { guests: { type: 'integer', minimum: 1 }, note: { type: 'string' } },
  required: ['guests'],
} as const;

const book: Tool = defineTool({
  name: 'book',
  description: 'Books a table.',
  execute: (_args, { input, requestInput }) =>
    input
      ? JSON.stringify(input.answers['table'])
      : requestInput({ table: { message: 'How\u202e many\u001b[31m?', schema: form } }),
});
const login: Tool = defineTool({
  name: 'login',
  description: 'Logs in.',
  execute: (_args, { input, requestInput }) =>
    input
      ? (input.answers['page']?.action ?? '')
      : requestInput({ page: { message: 'Log in.', url: 'https://login.example/start' } }),
});

const world = (steps: ScenarioStep[], more: Partial<FakeWorld> = {}): FakeWorld => {
  const driver = followingDriver(steps);
  const agent = AgentBuilder.base().withName('a').withModel(driver).withTools(book, login).build();
  return worldOf(driver, { config: { agents: [agent] }, ...more });
};

describe('questions of tools', () => {
  it('pause a run in a pipe, are printed without control characters, and are answered', async () => {
    const one = world([calls('book'), final('done')]);
    const { code, stderr } = await cli(one, 'run', 'book');
    expect(code).toBe(7);
    expect(stderr).toContain('Waiting because book needs an answer');
    expect(stderr).toContain('{ guests: integer, note?: text }');
    for (const hidden of ['\u202e', '\u001b[31m']) expect(stderr).not.toContain(hidden);
    expect(stderr).toMatch(/onward answer [0-9a-f]{8} --content '\{…\}'/);
    const show = await cli(one, 'sessions', 'show', 'last');
    expect(show.stdout).toContain('call_1/table');
    for (const hidden of ['\u202e', '\u001b[31m']) expect(show.stdout).not.toContain(hidden);
    const wrong = await cli(one, 'answer', 'last', '--content', '{"guests":0}');
    expect(wrong.code).toBe(2);
    expect(wrong.stderr).toContain('The question still waits.');
    for (const args of [[], ['--decline', '--cancel'], ['--content', '[1]']])
      expect((await cli(one, 'answer', 'last', ...args)).code).toBe(2);
    const other = await cli(one, 'answer', 'last', '--decline', '--execution', 'other');
    expect(other.code).toBe(4);
    const done = await cli(one, 'answer', 'last', '--content', '{"guests":3}');
    expect(done).toMatchObject({ code: 0, stdout: 'done\n' });
    expect(done.stderr).toContain('book');
    const late = await cli(one, 'answer', 'last', '--decline');
    expect(late.code).toBe(4);
    expect(late.stderr).toContain('asks: it is completed');
  });

  it('are named by id if several wait, and are in --json', async () => {
    const two = world([calls('book', 'login'), final('done')]);
    const { last, code } = await cli(two, 'run', 'go', '--json');
    expect(code).toBe(7);
    expect(last['pending_inputs']).toMatchObject([
      { input_id: 'call_1/table', schema: form },
      { input_id: 'call_2/page', url: 'https://login.example/start' },
    ]);
    expect(last['next']).toContainEqual(expect.stringMatching(/call_2\/page'? --accept$/));
    const which = await cli(two, 'answer', 'last', '--decline');
    expect(which.code).toBe(2);
    expect(which.stderr).toContain('2 questions wait. Name one');
    expect((await cli(two, 'answer', 'last', 'call_2', '--accept')).code).toBe(7);
    expect((await cli(two, 'answer', 'last', 'call_1', '--cancel')).code).toBe(0);
  });

  it('are asked on a terminal, and again if the answer does not fit', async () => {
    const says = ['no json', '{"guests":0}', '{"guests":2}', 'what', 'f'];
    const two = world([calls('book', 'login'), final('done')], { says });
    const { code, stderr, questions } = await cli(two, 'run', 'go');
    expect(code).toBe(0);
    expect(questions).toHaveLength(5);
    expect(stderr).toContain('is not JSON');
    expect(stderr).toContain('The question still waits.');
    expect(stderr).toContain('Type f, d, c or l.');
    expect(stderr).toContain('https://login.example/start');
  });

  it('can be left for later', async () => {
    const one = world([calls('book'), final('done')], { says: ['l'] });
    expect((await cli(one, 'run', 'go')).code).toBe(7);
  });
});
