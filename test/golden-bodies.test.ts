import { describe, expect, it } from 'vitest';
import { conversations } from './setup/conversations.ts';
import { wires } from './setup/provider-wires.ts';
import { ScriptedProvider } from './setup/scripted-provider.ts';

const slug = (name: string): string => name.toLowerCase().replaceAll(/[^a-z]+/g, '-');

/** Fields of a body that hold the conversation, by API. */
const listKeys = ['messages', 'input', 'contents'] as const;
const listIn = (body: Record<string, unknown>): unknown[] =>
  listKeys.flatMap((key) => (Array.isArray(body[key]) ? unmarked(body[key] as unknown[]) : []));

/** Cache marks move with the end of the conversation, and are no part of the prefix. */
const unmarked = (list: unknown[]): unknown[] =>
  JSON.parse(
    JSON.stringify(list, (key, value: unknown) => (key === 'cache_control' ? undefined : value)),
  ) as unknown[];

/** Accept a new body with `npx vitest run test/golden-bodies.test.ts -u` after a look at its difference. */
describe.each(wires)('requests of $name', (wire) => {
  it.each(conversations)(
    '$name: the last body is the golden one',
    async ({ name, script, run, ends = 'completed' }) => {
      const provider = new ScriptedProvider(wire, script);
      const state = await run(provider.model);
      expect(state.status).toBe(ends);
      expect(provider.problems).toEqual([]);
      const { bodies, paths } = provider;
      const golden = JSON.stringify({ path: paths.at(-1), body: bodies.at(-1) }, null, 2);
      await expect(`${golden}\n`).toMatchFileSnapshot(
        `fixtures/bodies/${name}/${slug(wire.name)}.json`,
      );
      // providers cache a prefix, so each request extends the one before
      const last = listIn(bodies.at(-1) ?? {});
      for (const body of bodies) {
        const list = listIn(body);
        expect(list.length).toBeGreaterThan(0);
        expect(last.slice(0, list.length)).toEqual(list);
      }
    },
  );
});
