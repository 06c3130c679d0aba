import { type Agent } from 'onward';
import {
  BroadcastConfig,
  BroadcastError,
  broadcastSessions,
  consoleBroadcaster,
  memoryBroadcaster,
  readRef,
  readRefill,
  type Broadcaster,
} from 'onward/broadcasting';
import { mockTool, ScenarioStep } from 'onward/testing';
import { describe, expect, it, vi } from 'vitest';
import { ann, callIds, memoryPlace, refusal, runtimeOn, waiting } from '../setup/sessions.ts';
import { byLook, leakIn, ours, planted, words } from '../setup/canary.ts';
import { secretiveAgent, secretiveParent } from '../setup/secretive-agents.ts';

const { toolCall, toolCalls, final, error } = ScenarioStep;

/** Broadcasts a session with all broadcasters, in small frames, so that values are truncated. */
async function broadcast(agent: Agent, play: 'run' | 'answer' | 'stop' = 'run') {
  const config = BroadcastConfig.debug({ frameBytes: 2_000 });
  const memory = memoryBroadcaster();
  const lines: string[] = [];
  const broadcasters: Broadcaster[] = [
    memory,
    consoleBroadcaster({ log: (line) => lines.push(line) }),
  ];
  const runtime = runtimeOn(memoryPlace().open(), agent);
  const all = broadcasters.map((broadcaster) =>
    broadcastSessions(runtime, { broadcaster, config }),
  );
  await runtime.create({ ...ann, id: 's', metadata: planted });
  const session = await runtime.send('s', `take ${byLook} for ${ours}`, waiting);
  if (play === 'answer') {
    const [first, second] = callIds(session);
    await runtime.approve('s', first!, { ...waiting, args: { ...planted, more: ours } });
    await runtime.deny('s', second!, { ...waiting, reason: words });
  }
  if (play === 'stop') await runtime.stop('s', { ...waiting, reason: words });
  for (const broadcasts of all) await broadcasts.close();
  // text of the model is streamed unchanged
  const live = memory.envelopes().filter(({ type }) => type !== 'agent.stream.chunk');
  const { envelopes: refilled } = await readRefill(runtime, 's', { ...ann, config });
  const refs = [...JSON.stringify(live).matchAll(/"ref":"([^"]+)"/g)].map(([, ref]) => ref!);
  const fetched = await Promise.all(refs.map((ref) => readRef(runtime, 's', ref, ann)));
  const spoken = lines.filter((line) => !line.includes('agent.stream.chunk'));
  const stats = all.map(({ stats: numbers }) => numbers);
  return { live, refilled, refs, fetched, spoken, stats };
}

const leaks = (seen: Record<string, unknown>): string[] =>
  Object.entries(seen).flatMap(([name, value]) => {
    const leak = leakIn(JSON.stringify(value));
    return leak === null ? [] : [`${name}: ${leak}`];
  });

describe('D43: broadcasts contain no secret', () => {
  it('of a message, arguments, results or metadata', async () => {
    const vault = mockTool('vault', { ...planted, text: `${words} `.repeat(200) });
    const args = { ...planted, more: `${words} `.repeat(200) };
    const steps = [toolCall('vault', args, `I use ${byLook}.`), final(`Done with ${ours}.`)];
    const seen = await broadcast(secretiveAgent(steps, vault));
    expect(leaks(seen)).toEqual([]);
    expect(vault.calls).toEqual([args]);
    expect(seen.refs.length).toBeGreaterThanOrEqual(2);
    expect(seen.spoken.length).toBeGreaterThan(8);
    for (const value of [seen.live, seen.refilled, seen.fetched, seen.spoken])
      expect(JSON.stringify(value)).toContain('[redacted]');
  });

  it('of calls that need approval, edited arguments or the reason of a denial', async () => {
    const vault = mockTool('vault', 'ok', { needsApproval: true });
    const calls = [1, 2].map(() => ({ name: 'vault', args: planted }));
    const seen = await broadcast(secretiveAgent([toolCalls(calls), final('Ok.')], vault), 'answer');
    expect(leaks(seen)).toEqual([]);
    expect(seen.live.filter(({ type }) => type === 'agent.approval.requested')).toHaveLength(2);
    expect(vault.calls).toEqual([{ ...planted, more: ours }]);
  });

  it('of errors of tools and models, or the reason of a stop', async () => {
    const boom = mockTool('boom', new Error(`${words} `.repeat(100)));
    const failing = await broadcast(
      secretiveAgent(
        [toolCall('boom'), error({ type: 'model', message: words, retryable: false })],
        boom,
      ),
    );
    expect(leaks(failing)).toEqual([]);
    expect(failing.live.at(-1)).toMatchObject({ payload: { status: 'failed' } });
    const wait = mockTool('vault', 'ok', { needsApproval: true });
    const stopped = await broadcast(secretiveAgent([toolCall('vault', planted)], wait), 'stop');
    expect(leaks(stopped)).toEqual([]);
    expect(stopped.live.at(-1)).toMatchObject({ payload: { status: 'cancelled' } });
  });

  it('of a nested agent', async () => {
    const seen = await broadcast(secretiveParent());
    expect(leaks(seen)).toEqual([]);
    expect(seen.live.some(({ parent_agent_id }) => parent_agent_id !== undefined)).toBe(true);
  });

  it('in the log of a transport error or the error of a refused ref', async () => {
    const reported = vi.spyOn(console, 'error').mockImplementation(() => {});
    const fail = (): never => {
      throw new BroadcastError(`403 for key ${byLook}`, { retryable: false });
    };
    const runtime = runtimeOn(memoryPlace().open(), secretiveAgent([final('Ok.')]));
    const broadcasts = broadcastSessions(runtime, {
      broadcaster: { name: 'closed', broadcast: fail, broadcastBatch: fail },
    });
    await runtime.create({ ...ann, id: 's' });
    await runtime.send('s', 'go', waiting);
    await broadcasts.close();
    expect(reported).toHaveBeenCalledTimes(1);
    expect(leaks({ reported: reported.mock.calls, stats: broadcasts.stats })).toEqual([]);
    for (const ref of [byLook, `1.content.${byLook}`]) {
      const { message, details } = await refusal(() => readRef(runtime, 's', ref, ann));
      expect(leaks({ message, details })).toEqual([]);
    }
    reported.mockRestore();
  });
});
