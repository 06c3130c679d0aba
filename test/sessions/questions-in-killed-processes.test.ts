import { join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { bundledProgram, startChild, type Child } from '../setup/child-program.ts';
import { newSchema, server } from '../setup/postgres-stores.ts';
import { sqlitePlace } from '../setup/sessions.ts';

let program: string;
const removals: (() => void)[] = [];
beforeAll(async () => {
  program = await bundledProgram('test/setup/question-child.ts', (remove) => removals.push(remove));
  return () => {
    for (const remove of removals) remove();
  };
}, 60_000);

async function kill(child: Child): Promise<void> {
  child.process.kill('SIGKILL');
  expect((await child.gone)[1]).toBe('SIGKILL');
}

it.each([
  ['sqlite', () => [join(sqlitePlace().folder, 'sessions.db'), '-']],
  ['postgres', () => [server.url, newSchema()]],
] as const)(
  'a question of a nested agent outlives its process and a prune, and another process answers it (%s)',
  async (kind, placeOf) => {
    const place = placeOf();
    const asking = startChild(program, [kind, ...place, 'ask']);
    expect(await asking.said('asked')).toMatch(/^asked \S+\/table$/);
    expect(asking.lines[0]).toBe('runs without input');
    await kill(asking);

    const pruning = startChild(program, [kind, ...place, 'prune']);
    expect(await pruning.said('pruned')).toMatch(/^pruned \d+, asks How many\?$/);
    await kill(pruning);

    const answering = startChild(program, [kind, ...place, 'answer']);
    expect(await answering.said('done')).toBe('done completed All booked. "booked 4 at Aurora"');
    expect(answering.lines.slice(0, 2)).toEqual(['refused invalid_input', 'runs with input']);
    await kill(answering);
  },
  60_000,
);
