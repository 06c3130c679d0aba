import { AgentError, type AgentEvent, type SessionEvent, type SessionRuntime } from 'onward';
import {
  broadcastSessions,
  memoryBroadcaster,
  type Broadcaster,
  type Envelope,
} from 'onward/broadcasting';
import { mockTool, ScenarioStep } from 'onward/testing';
import { describe, expect, it, vi } from 'vitest';
import { agentWith, ann, memoryPlace, pause, waiting } from '../setup/sessions.ts';
import { numbered } from './live-run.ts';
import { processOn } from './process-on.ts';

const { toolCall, final, stream } = ScenarioStep;

describe('broadcastSessions', () => {
  it('D65: does not delay a session if the transport hangs, and counts dropped envelopes', async () => {
    const broadcaster: Broadcaster = {
      name: 'stuck',
      broadcast: () => new Promise(() => {}),
      broadcastBatch: () => new Promise(() => {}),
    };
    const drops: unknown[] = [];
    const { runtime, broadcasts } = processOn(memoryPlace().open(), agentWith([final('done')]), {
      broadcaster,
      onDrop: (drop) => drops.push(drop),
    });
    const { id } = await runtime.create(ann);
    const session = await runtime.send(id, 'go', waiting);
    expect(session.output).toBe('done');
    expect(broadcasts.sessions).toBe(1);
    expect(broadcasts.stats.queued).toBeGreaterThan(3);
    expect(await broadcasts.flush(10)).toBe(false);
    expect(await broadcasts.close(10)).toBe(false);
    expect(broadcasts.stats).toMatchObject({ queued: 0, sent: 0 });
    expect(broadcasts.stats.dropped).toBeGreaterThan(3);
    expect(drops).toHaveLength(1);
  });

  it('keeps the order of turns on a slow transport, and releases the session after its final status', async () => {
    const order: string[] = [];
    const slowly = async (envelopes: readonly Envelope[]): Promise<void> => {
      await pause(3);
      for (const { execution_id, seq } of numbered(envelopes))
        order.push(`${execution_id} ${String(seq).padStart(2, '0')}`);
    };
    const broadcaster: Broadcaster = {
      name: 'slow',
      batchSize: 2,
      broadcast: (_channel, envelope) => slowly([envelope]),
      broadcastBatch: (batch) => slowly(batch.map(({ envelope }) => envelope)),
    };
    const { runtime, broadcasts } = processOn(
      memoryPlace().open(),
      agentWith([final('one'), final('two'), final('three')]),
      { broadcaster },
    );
    const { id } = await runtime.create(ann);
    for (const executionId of ['e1', 'e2', 'e3'])
      await runtime.send(id, 'go', { ...waiting, executionId });
    expect(broadcasts.sessions).toBe(1);
    expect(await broadcasts.flush()).toBe(true);
    expect(order).toEqual(order.toSorted());
    expect(new Set(order.map((line) => line.slice(0, 2))).size).toBe(3);
    expect(broadcasts.sessions).toBe(0);
    expect(broadcasts.stats.sent).toBeGreaterThanOrEqual(order.length);
  });

  it('logs dropped envelopes once for several sessions if there is no listener', async () => {
    const reported = vi.spyOn(console, 'error').mockImplementation(() => {});
    const fail = (): never => {
      throw new AgentError('invalid_option', 'no');
    };
    const { runtime, broadcasts } = processOn(
      memoryPlace().open(),
      agentWith([final('a'), final('b')]),
      {
        broadcaster: { name: 'broken', broadcast: fail, broadcastBatch: fail },
        maxTries: 1,
      },
    );
    for (const id of ['s1', 's2']) {
      await runtime.create({ ...ann, id });
      await runtime.send(id, 'go', waiting);
    }
    await broadcasts.flush();
    expect(broadcasts.stats.dropped).toBeGreaterThan(5);
    expect(
      reported.mock.calls.filter(([line]) => `${line}`.includes('broken dropped')),
    ).toHaveLength(1);
    reported.mockRestore();
  });

  it('sends nothing after close', async () => {
    const { runtime, broadcasts, broadcaster } = processOn(
      memoryPlace().open(),
      agentWith([final('a'), final('b')]),
    );
    const { id } = await runtime.create(ann);
    await runtime.send(id, 'go', waiting);
    expect(await broadcasts.close()).toBe(true);
    const { length } = broadcaster.sent;
    expect(length).toBeGreaterThan(3);
    await runtime.send(id, 'go', waiting);
    expect(broadcaster.sent).toHaveLength(length);
  });
});

describe('10,000 sessions', () => {
  /** Replays the events of one run for any number of sessions. */
  async function replayed(broadcaster: Broadcaster) {
    const events: AgentEvent[] = [];
    const agent = agentWith([toolCall('look'), stream(['do', 'ne'])], mockTool('look'));
    await agent.run('go', { executionId: 'e', wiretap: (event) => events.push(event) });
    let report: (event: SessionEvent) => void = () => {};
    const runtime = {
      wiretap(listener: typeof report) {
        report = listener;
        return () => {};
      },
    };
    const broadcasts = broadcastSessions(runtime as unknown as SessionRuntime, { broadcaster });
    const play = (sessionId: string, count: number = events.length): void => {
      let seq = 0;
      for (const event of events.slice(0, count)) {
        const isTransient = event.type === 'StreamChunk' || event.type === 'ToolCallDelta';
        report({ sessionId, owner: 'ann', seq: isTransient ? null : ++seq, event });
      }
    };
    return { broadcasts, play };
  }
  const quiet: Broadcaster = { name: 'quiet', broadcast: () => {}, broadcastBatch: () => {} };

  it('are released when they end', async () => {
    const { broadcasts, play } = await replayed(quiet);
    let most = 0;
    for (let i = 0; i < 10_000; i++) {
      play(`s${i}`);
      most = Math.max(most, broadcasts.sessions);
      if (i % 10 === 0) await Promise.resolve();
    }
    await broadcasts.flush();
    expect(most).toBeLessThanOrEqual(20);
    expect(broadcasts.sessions).toBe(0);
    expect(broadcasts.stats).toMatchObject({ queued: 0, dropped: 0 });
    expect(broadcasts.stats.sent).toBe(10_000 * 15);
  });

  it('are limited: the oldest run without an end is released first', async () => {
    const broadcaster = memoryBroadcaster({ keep: 100_000 });
    const { broadcasts, play } = await replayed(broadcaster);
    for (let i = 0; i < 10_500; i++) {
      play(`s${i}`, 2);
      if (i % 100 === 0) await broadcasts.flush();
    }
    await broadcasts.flush();
    expect(broadcasts.sessions).toBe(10_000);
    expect(broadcasts.stats.sent).toBe(21_000);
    // a released session starts again
    play('s0');
    await broadcasts.flush();
    expect(broadcaster.envelopes('agent.s0')[2]).toMatchObject({ seq: 1, prev: 0 });
    await broadcasts.close();
  });
});
