import type { SessionRuntime } from 'onward';
import { mockTool, ScenarioStep } from 'onward/testing';
import { describe, expect, it } from 'vitest';
import { searchSessions, type SearchSessionsOptions } from '../../src/trace/index.ts';
import {
  ann,
  builderWith,
  followingDriver,
  places,
  runtimeOn,
  waiting,
} from '../setup/sessions.ts';

const { toolCall, final } = ScenarioStep;

/** Reverses stored text, as a simple encrypting codec. */
const codec = {
  encode: (text: string) => [...text].toReversed().join(''),
  decode: (text: string) => [...text].toReversed().join(''),
};

describe.each(places)('searching sessions in %s', (_name, placed) => {
  async function reported(): Promise<SessionRuntime> {
    const agent = builderWith(
      followingDriver([toolCall('find_leads', { q: 'x' }), final('Nordlicht GmbH fits.')]),
      mockTool('find_leads', 'the hit is Fjordbank'),
    ).build();
    const runtime = runtimeOn(placed({ codec }).open(), agent);
    for (const [id, text] of [
      ['a-one', 'Suche Partner für Müller'],
      ['b-two', 'Delete the old leads'],
    ] as const) {
      await runtime.create({ ...ann, id });
      await runtime.send(id, text, waiting);
    }
    await runtime.create({ ...ann, id: 'c-three', metadata: { title: 'Empty one' } });
    await runtime.create({ owner: 'bob', id: 'four', metadata: { title: 'Müller of Bob' } });
    return runtime;
  }

  it('finds by title, id, reason, message, tool and result, ignoring case and accents', async () => {
    const runtime = await reported();
    const found = async (search: string, more: Partial<SearchSessionsOptions> = {}) =>
      (await searchSessions(runtime, { ...ann, search, ...more })).sessions.map(({ id }) => id);
    expect(await found('muller')).toEqual(['a-one']);
    expect(await found('MÜLLER suche')).toEqual(['a-one']);
    expect(await found('müller delete')).toEqual([]);
    expect(await found('three')).toEqual(['c-three']);
    expect(await found('nothing sent')).toEqual(['c-three']);
    expect(await found('nordlicht')).toEqual(['b-two', 'a-one']);
    expect(await found('find_leads partner')).toEqual(['a-one']);
    expect(await found('fjordbank')).toEqual(['b-two', 'a-one']);
    expect(await found('  ')).toEqual(['c-three', 'b-two', 'a-one']);
    expect(await found('one', { status: 'pending' })).toEqual(['c-three']);
    expect(await found('support', { agent: 'other' })).toEqual([]);
    expect(await found('nordlicht', { owner: 'bob' })).toEqual([]);
  });

  it('says where each was found, with an excerpt and the step', async () => {
    const runtime = await reported();
    const match = async (search: string) => {
      const { sessions, matches } = await searchSessions(runtime, { ...ann, search });
      return matches[sessions[0]?.id ?? ''];
    };
    const { executionId } = await runtime.get('b-two', ann);
    const inStep = { executionId, more: 0 };
    expect(await match('leads old')).toEqual({
      place: 'title',
      step: null,
      tool: null,
      executionId: null,
      more: 0,
      text: 'Delete the old leads',
      ranges: [
        [11, 14],
        [15, 20],
      ],
    });
    expect(await match('FJORDBANK')).toEqual({
      place: 'tool_result',
      step: 1,
      tool: 'find_leads',
      ...inStep,
      text: 'the hit is Fjordbank',
      ranges: [[11, 20]],
    });
    expect(await match('nordlicht')).toMatchObject({ place: 'answer', step: 2, ...inStep });
    expect(await match('  ')).toBeUndefined();
  });

  it('stops at its limits of results, time and sessions, and continues from the cursor', async () => {
    const runtime = await reported();
    const walk = async (bound: Partial<SearchSessionsOptions>) => {
      const pages: string[][] = [];
      let cursor: string | undefined;
      do {
        const page = await searchSessions(runtime, {
          ...ann,
          search: 'nordlicht',
          ...bound,
          ...(cursor !== undefined && { cursor }),
        });
        pages.push(page.sessions.map(({ id }) => id));
        cursor = page.cursor ?? undefined;
      } while (cursor !== undefined);
      return pages;
    };
    expect(await walk({ maxSessions: 1 })).toEqual([[], ['b-two'], ['a-one']]);
    expect((await walk({ limit: 1 })).flat()).toEqual(['b-two', 'a-one']);
    expect((await walk({ maxMs: 0, maxSessions: 2 })).flat()).toEqual(['b-two', 'a-one']);
    expect(await walk({})).toEqual([['b-two', 'a-one']]);
  });

  it('skips a session that is deleted during the search', async () => {
    const runtime = await reported();
    const going = new Proxy(runtime, {
      get(target, key) {
        if (key === 'messages')
          return async (id: string, options: never) => {
            await target.delete(id, ann).catch(() => {});
            return target.messages(id, options);
          };
        const value: unknown = Reflect.get(target, key);
        return typeof value === 'function' ? (value.bind(target) as unknown) : value;
      },
    });
    const page = await searchSessions(going, { ...ann, search: 'nordlicht' });
    expect(page).toEqual({ sessions: [], matches: {}, cursor: null });
  });
});
