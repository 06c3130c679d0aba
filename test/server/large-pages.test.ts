import { defineTool } from 'onward';
import { DeterministicDriver, ScenarioStep } from 'onward/testing';
import { agentServer } from 'onward/server';
import { describe, expect, it, vi } from 'vitest';
import { readRefill } from '../../src/broadcasting/refill.ts';
import { searchSessions } from '../../src/trace/index.ts';
import {
  ann,
  builderWith,
  followingDriver,
  places,
  runtimeOn,
  waiting,
} from '../setup/sessions.ts';
import { asking, owner, setup } from './setup.ts';

/** Maximum characters of a response: a page and its envelope. */
const MOST = 1_200_000;
const large = (n: number): string => `${n} `.padEnd(300_000, 'word ');

describe.each(places)('pages of large items (%s)', (_name, makePlace) => {
  it('contain each message once over all pages', async () => {
    const driver = DeterministicDriver.fromResponses(...Array.from({ length: 8 }, () => 'ok'));
    const runtime = runtimeOn(makePlace().open(), builderWith(driver).build());
    const ask = asking(agentServer({ runtime, owner, rateLimit: null }));
    await runtime.create({ ...ann, id: 's' });
    for (let n = 0; n < 8; n += 1) await runtime.send('s', large(n), waiting);
    const seen: string[] = [];
    let before: number | null = null;
    let pages = 0;
    do {
      const { body, text } = await ask(
        `GET /api/sessions/s/messages?limit=500${before === null ? '' : `&before=${before}`}`,
      );
      expect(text.length).toBeLessThan(MOST);
      seen.unshift(...body.messages.map(({ content }: { content: string }) => content.slice(0, 2)));
      before = body.before;
      pages += 1;
    } while (before !== null);
    expect(seen).toEqual(Array.from({ length: 8 }, (_, n) => [`${n} `, 'ok']).flat());
    expect(pages).toBeGreaterThan(2);
  });

  it('contain one item if it is larger than a page', async () => {
    const runtime = runtimeOn(makePlace().open(), builderWith(followingDriver()).build());
    const ask = asking(agentServer({ runtime, owner, rateLimit: null, maxBodyBytes: 9_000_000 }));
    const text = 'x'.repeat(2_500_000);
    await runtime.create({ ...ann, id: 's' });
    await runtime.send('s', text, waiting).catch(() => {});
    const page = await ask('GET /api/sessions/s/messages');
    expect(page.body.messages[0].content).toHaveLength(text.length);
    expect(page.body.before).toBeNull();
  });

  it('contain each session once over all pages', async () => {
    const place = makePlace();
    const store = place.open();
    const runtime = runtimeOn(store, builderWith(followingDriver()).build());
    const ask = asking(agentServer({ runtime, owner, rateLimit: null }));
    const { id } = await runtime.create({ ...ann, metadata: { note: 'small' } });
    const row = (await store.find(id))!;
    const metadata = Object.fromEntries(
      Array.from({ length: 2_000 }, (_, i) => [`k${i}`, large(i).slice(0, 150)]),
    );
    // an earlier release accepted this size
    const head = row.head.replace('{"note":"small"}', JSON.stringify(metadata));
    expect(head.length).toBeGreaterThan(300_000);
    for (let n = 0; n < 7; n += 1)
      await store.create({
        ...row,
        id: `large${n}`,
        head,
        createdAt: `2026-01-0${n + 1}T00:00:00.000Z`,
      });
    const seen: string[] = [];
    let cursor: string | null = null;
    let pages = 0;
    do {
      const page = await runtime.list({ ...ann, limit: 200, ...(cursor !== null && { cursor }) });
      expect(JSON.stringify(page.sessions).length).toBeLessThan(MOST);
      seen.push(...page.sessions.map((session) => session.id));
      cursor = page.cursor;
      pages += 1;
    } while (cursor !== null);
    expect(seen).toEqual([id, ...Array.from({ length: 7 }, (_, n) => `large${6 - n}`)]);
    expect(pages).toBeGreaterThan(2);
    // the server reads several pages for one response, which has only summaries
    expect((await ask('GET /api/sessions?limit=200')).body.sessions).toHaveLength(8);
  });

  it('contain each event once, and the trace omits large results', async () => {
    const { toolCall, final } = ScenarioStep;
    const tool = defineTool({
      name: 'fetch_page',
      description: 'Fetches a page.',
      parameters: { type: 'object', properties: { page: { type: 'integer' } } },
      maxResultChars: 1_000_000,
      execute: ({ page }) => large(Number(page)),
    });
    const steps = Array.from({ length: 10 }, (_, page) => toolCall('fetch_page', { page }));
    const driver = followingDriver([...steps, final('done')]);
    const runtime = runtimeOn(makePlace().open(), builderWith(driver, tool).build());
    const ask = asking(agentServer({ runtime, owner, rateLimit: null }));
    await runtime.create({ ...ann, id: 's' });
    await runtime.send('s', 'go', waiting);
    const trace = await ask('GET /api/sessions/s/trace');
    expect(trace.body.steps).toHaveLength(11);
    expect(trace.text.length).toBeLessThan(100_000);
    const seqs: number[] = [];
    for (let after = 0, more = true; more;) {
      const page = await runtime.events('s', { ...ann, after });
      expect(JSON.stringify(page.events).length).toBeLessThan(MOST);
      seqs.push(...page.events.map(({ seq }) => seq));
      after = seqs.at(-1) ?? 0;
      more = after < page.seq;
    }
    const { seq } = await runtime.events('s', { ...ann, limit: 1 });
    expect(seqs).toEqual(Array.from({ length: seq }, (_, i) => i + 1));
    const whole = await runtime.steps('s', { ...ann, limit: 2 });
    expect(whole.items[0]!.results[0]!.value).toHaveLength(300_000);
  });
});

/** Counts turns of the event loop during the work, if every part of it takes too long. */
async function turnsDuring(work: () => Promise<unknown>): Promise<number> {
  let now = 0;
  const slow = vi.spyOn(performance, 'now').mockImplementation(() => (now += 1_000));
  let turns = 0;
  let isOver = false;
  const count = (): void => {
    turns += 1;
    if (!isOver) setImmediate(count);
  };
  setImmediate(count);
  try {
    await work();
    return turns;
  } finally {
    isOver = true;
    slow.mockRestore();
  }
}

describe.each(places)('one step with many large results (%s)', (_name, makePlace) => {
  it('yields to the event loop between results in every read', async () => {
    const calls = 40;
    const tool = defineTool({
      name: 'list',
      description: 'Lists.',
      parameters: { type: 'object', properties: { n: { type: 'integer' } } },
      execute: ({ n }) => Array.from({ length: 1_500 }, (_, i) => [n, i]),
    });
    const asked = Array.from({ length: calls }, (_, n) => ({ name: 'list', args: { n } }));
    const driver = followingDriver([ScenarioStep.toolCalls(asked), ScenarioStep.final('done')]);
    const runtime = runtimeOn(makePlace().open(), builderWith(driver, tool).build());
    await runtime.create({ ...ann, id: 's' });
    await runtime.send('s', 'go', waiting);
    const { events } = await runtime.events('s', ann);
    const steps = await turnsDuring(() => runtime.steps('s', { ...ann, before: 1 }));
    const log = await turnsDuring(() => runtime.events('s', ann));
    const refill = await turnsDuring(() => readRefill(runtime, 's', ann));
    const messages = await turnsDuring(() => runtime.messages('s', { ...ann, limit: 100 }));
    const search = await turnsDuring(() => searchSessions(runtime, { ...ann, search: 'absent' }));
    // read like messages, then folded one by one
    expect(search - messages).toBeGreaterThan(calls / 2);
    // read, inserted and redacted
    expect(steps).toBeGreaterThan(3 * calls);
    // read and inserted, then converted to an envelope
    expect(log).toBeGreaterThan(2 * calls);
    expect(refill - log).toBeGreaterThan(events.length / 2);
    const [step] = (await runtime.steps('s', { ...ann, before: 1 })).items;
    expect(step!.results.map(({ value }) => (value as number[][])[1])).toEqual(
      asked.map(({ args }) => [args.n, 1]),
    );
  });
});

describe('a body that is too large', () => {
  it('is refused if the metadata has more than 64 KB', async () => {
    const { ask, runtime } = setup();
    const metadata = { text: 'ä'.repeat(40_000) };
    const { status, body } = await ask('POST /api/sessions', { body: { metadata } });
    expect([status, body.error.code]).toEqual([400, 'invalid_option']);
    expect(body.error.message).toContain('metadata is 80011 bytes of JSON, expected at most 65536');
    expect((await runtime.list(ann)).sessions).toEqual([]);
    await runtime.create({ ...ann, metadata: { text: 'ä'.repeat(30_000) } });
  });

  it.each([
    [
      'metadata',
      { metadata: Object.fromEntries(Array.from({ length: 10_000 }, (_, i) => [i, 1])) },
    ],
    ['content', { message: Array.from({ length: 10_000 }, () => ({ type: 'text', text: 'a' })) }],
  ])('is refused if it has more than 10,000 values: %s', async (_name, body) => {
    const { ask } = setup();
    const answer = await ask('POST /api/sessions', { body });
    expect([answer.status, answer.body.error.code]).toEqual([400, 'invalid_request']);
    expect(answer.body.error.message).toContain('more than 10000 values');
  });
});
