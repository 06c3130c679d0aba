import type { SessionStore } from 'onward/stores';
import { DeterministicDriver } from 'onward/testing';
import { describe, expect, it } from 'vitest';
import { compaction } from '../setup/compactions.ts';
import { ann, builderWith, memoryPlace, runtimeOn, waiting } from '../setup/sessions.ts';

describe('the rows that a turn of a long conversation reads', () => {
  /** Counts them with this many turns, of which each hundredth part was summarized. */
  async function readAfter(
    turns: number,
    summaries: number,
  ): Promise<{ rows: number; compactions: number }> {
    const store = memoryPlace().open();
    const text = 'seen '.repeat(20);
    const runtime = runtimeOn(
      store,
      builderWith(DeterministicDriver.fromResponses('first')).build(),
    );
    await runtime.create({ ...ann, id: 's' });
    await runtime.send('s', 'first', waiting);
    const row = (await store.find('s'))!;
    const claimed = await claim(store);
    const messages = Array.from({ length: turns * 2 }, (_, i) => ({
      agentId: '',
      position: 2 + i,
      role: i % 2 === 0 ? 'user' : 'assistant',
      body: JSON.stringify({
        id: `m${i}`,
        role: i % 2 === 0 ? 'user' : 'assistant',
        content: text,
        toolCalls: [],
        toolCallId: null,
        name: null,
        metadata: {},
        createdAt: '2026-01-01T00:00:00.000Z',
      }),
    }));
    const each = Math.floor((turns * 2) / (summaries + 1) / 2) * 2;
    const compactions = Array.from({ length: summaries * 2 }, (_, i) => {
      const to = 2 + each * (Math.floor(i / 2) + 1);
      const kind = i % 2 === 0 ? ('tool_results' as const) : ('summary' as const);
      return {
        agentId: '',
        position: i,
        kind,
        toPosition: to,
        body: JSON.stringify(compaction(kind, to - each, to)),
      };
    });
    const head = JSON.parse(row.head) as object;
    const { number: done } = (await store.nextCommand('s'))!;
    await store.commit({
      sessionId: 's',
      token: claimed.token,
      revision: claimed.revision,
      at: '2026-01-01T00:00:00.000Z',
      messages,
      compactions,
      root: {
        head: JSON.stringify({ ...head, compactions: compactions.length }),
        status: 'completed',
        executionId: row.executionId!,
        messageCount: 2 + messages.length,
        stepCount: row.stepCount,
        requires: 2,
      },
      done,
      end: 'ended',
    });
    let [rows, read] = [0, 0];
    const counting: SessionStore = {
      ...store,
      async messages(...given) {
        const found = await store.messages(...given);
        rows += found.length;
        return found;
      },
      async compactions(...given) {
        const found = await store.compactions(...given);
        read += found.length;
        return found;
      },
    };
    const driver = DeterministicDriver.fromResponses('next');
    const next = runtimeOn(counting, builderWith(driver).build());
    await next.send('s', 'more', waiting);
    expect((await next.get('s', ann)).messageCount).toBe(2 + messages.length + 2);
    return { rows, compactions: read };
  }

  async function claim(store: SessionStore) {
    await store.accept(
      's',
      { kind: 'message', executionId: 'e', body: '{}', at: '2026-01-01T00:00:00.000Z' },
      { phases: ['idle'] },
    );
    return (await store.claim('s', { worker: 'w', ttlMs: 60_000 }))!;
  }

  it('are as many with 100,000 messages and hundreds of compactions as with few', async () => {
    const few = await readAfter(400, 3);
    const many = await readAfter(50_000, 499);
    expect(many.rows).toBeLessThanOrEqual(few.rows + 1);
    expect(many.compactions).toBeLessThan(20);
  }, 60_000);

  it('are bounded if nothing was summarized for long', async () => {
    const { rows } = await readAfter(50_000, 1);
    expect(rows).toBeLessThan(2_100);
    expect(rows).toBeGreaterThan(1_900);
  }, 60_000);
});
