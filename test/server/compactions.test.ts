import type { Agent, SessionRuntime } from 'onward';
import { agentServer } from 'onward/server';
import { DeterministicDriver, mockTool, ScenarioStep } from 'onward/testing';
import { newUiState, reduceEnvelope, type UiMessage } from 'onward/ui';
import { describe, expect, it, onTestFinished } from 'vitest';
import { compactionLines } from '../../src/cli/trace-text.ts';
import type { Envelope } from '../../src/broadcasting/envelope.ts';
import { builderWith, runtimeOn, sqlitePlace, waiting } from '../setup/sessions.ts';
import { asking, owner, type Ask } from './setup.ts';

const { toolCall, final } = ScenarioStep;
const secret = 'sk-proj-abcdefghijklmnopqrstuvwxyz012345';

const agentOf = (turns: number): Agent =>
  builderWith(
    DeterministicDriver.fromSteps(
      ...Array.from({ length: turns }, (_, i) => [
        toolCall('read', {}, '', { usage: null }),
        final(`answer ${i} ${'about invoices '.repeat(100)}`, { usage: null }),
      ]).flat(),
    ),
    mockTool('read', 'found '.repeat(400)),
  )
    .withCompaction({
      atTokens: 2_000,
      keepTurns: 1,
      model: DeterministicDriver.fromResponses(
        ...Array.from({ length: 30 }, (_, i) => `<b>Record ${i}</b> ${secret}`),
      ),
    })
    .build();

/** A session of ann with several compactions. */
async function longSession(turns = 6): Promise<{ ask: Ask; runtime: SessionRuntime }> {
  const agent = agentOf(turns);
  const runtime = runtimeOn(sqlitePlace().open(), agent);
  const server = agentServer({ runtime, owner, agents: [agent], name: 'test', rateLimit: null });
  onTestFinished(() => server.close());
  await runtime.create({ owner: 'ann', id: 's' });
  for (let turn = 0; turn < turns; turn++) await runtime.send('s', `question ${turn}`, waiting);
  return { ask: asking(server), runtime };
}

const compacted = (rows: readonly UiMessage[]): readonly UiMessage[] =>
  rows.filter(({ metadata }) => metadata.compaction !== undefined);

describe('D72: a compacted session over HTTP', () => {
  it('lists its compactions with their summaries, page by page, without secrets', async () => {
    const { ask } = await longSession();
    const { body, status, text } = await ask('GET /api/sessions/s/compactions?limit=500');
    expect(status).toBe(200);
    expect(text).not.toContain('abcdefghijkl');
    const all = body.compactions as { id: string; kind: string; toPosition: number }[];
    const kinds = new Set(all.map(({ kind }) => kind));
    expect(kinds).toEqual(new Set(['tool_results', 'summary']));
    const paged: unknown[] = [];
    let before: number | null = null;
    do {
      const query: string = before === null ? '' : `&before=${before}`;
      const { body: page } = await ask(`GET /api/sessions/s/compactions?limit=2${query}`);
      paged.unshift(...page.compactions);
      ({ before } = page);
    } while (before !== null);
    expect(paged).toEqual(all);
    // and the messages that a summary stands for
    const summary = all.find(({ kind }) => kind === 'summary')!;
    const originals = await ask(
      `GET /api/sessions/s/messages?before=${summary.toPosition}&limit=${summary.toPosition}`,
    );
    expect(originals.body.messages[0].content).toBe('question 0');
    for (const path of ['compactions', `refs?ref=summary:${summary.id}`])
      expect((await ask(`GET /api/sessions/s/${path}`, { as: 'bob' })).status).toBe(404);
  });

  it('shows the same rows live and after a reload, and opens their summaries', async () => {
    const { ask, runtime } = await longSession(4);
    const { executions } = (await ask('GET /api/sessions/s/trace')).body;
    let state = newUiState();
    for (const { id } of executions as { id: string }[]) {
      const refill = await ask(`GET /api/sessions/s/log?after=0@${id}`);
      for (const envelope of refill.body.envelopes as Envelope[])
        state = reduceEnvelope(state, envelope);
    }
    const live = compacted(state.messages);
    const { messages } = (await ask('GET /api/sessions/s/messages?limit=500')).body;
    const reloaded = compacted(messages);
    expect(live.length).toBeGreaterThan(1);
    expect(reloaded.map(({ id, content }) => [id, content])).toEqual(
      live.map(({ id, content }) => [id, content]),
    );
    // in the same place: before what the step said
    const order = (rows: readonly UiMessage[]): readonly string[] =>
      rows.flatMap(({ id, role, metadata }) =>
        metadata.compaction ? [id] : role === 'status' ? [] : [role],
      );
    expect(order(state.messages)).toEqual(order(messages));
    // a page has those that were made in it
    const page = (await ask('GET /api/sessions/s/messages?limit=5')).body;
    const earlier = (await ask(`GET /api/sessions/s/messages?limit=500&before=${page.before}`))
      .body;
    expect([...earlier.messages, ...page.messages]).toEqual(messages);
    // summaries are read from the store, also when the log is pruned
    await runtime.prune({ olderThan: new Date(Date.now() + 1_000) });
    const refs = reloaded.flatMap(({ metadata }) => metadata.content_ref ?? []);
    expect(refs.length).toBeGreaterThan(0);
    for (const ref of refs) {
      const { body } = await ask(`GET /api/sessions/s/refs?ref=${encodeURIComponent(ref)}`);
      expect(body.value).toMatch(/^<b>Record \d+<\/b> /);
      expect(body.value).not.toContain('abcdefghijkl');
    }
    const gone = await ask('GET /api/sessions/s/refs?ref=summary:cmp_unknown');
    expect([gone.status, gone.body.error.code]).toEqual([404, 'ref_not_found']);
    const still = (await ask('GET /api/sessions/s/messages?limit=500')).body;
    expect(compacted(still.messages)).toEqual(reloaded);
  });

  it('shows sizes before and after in the trace', async () => {
    const { ask } = await longSession();
    const { body } = await ask('GET /api/sessions/s/trace');
    const steps = body.steps as {
      number: number;
      compactions?: { tokensBefore: number; tokensAfter: number }[];
    }[];
    const compactions = steps.flatMap((step) => step.compactions ?? []);
    expect(compactions.length).toBeGreaterThan(0);
    for (const { tokensBefore, tokensAfter } of compactions)
      expect(tokensAfter).toBeLessThanOrEqual(tokensBefore);
    expect(compactionLines(body)).toContainEqual(
      expect.stringMatching(/^Step \d+: .+: [\d.]+k? → [\d.]+k? tokens\.$/),
    );
  });
});
