import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { AgentBuilder, type Agent, type SessionRuntime } from 'onward';
import type { StoreCodec } from 'onward/stores';
import { mockTool, ScenarioStep } from 'onward/testing';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import {
  ann,
  builderWith,
  callIds,
  clientOn,
  followingDriver,
  receiving,
  memoryPlace,
  places,
  runtimeOn,
  sqlitePlace,
  takesAnotherTurn,
  waiting,
} from '../setup/sessions.ts';
import { byLook, leakIn, ours, planted, words } from '../setup/canary.ts';
import { secretiveAgent, secretiveParent } from '../setup/secretive-agents.ts';

const { toolCall, toolCalls, final } = ScenarioStep;

beforeEach(() => {
  vi.restoreAllMocks();
});

/** Reads everything that a client can see of a session, by method. */
async function outlets(runtime: SessionRuntime, id: string): Promise<Record<string, unknown>> {
  const { items: steps } = await runtime.steps(id, ann);
  const executions = [...new Set(steps.map(({ executionId }) => executionId))];
  const logs = executions.map((executionId) => runtime.events(id, { ...ann, executionId }));
  return {
    get: await runtime.get(id, ann),
    list: await runtime.list(ann),
    messages: await runtime.messages(id, ann),
    steps,
    events: await Promise.all(logs),
    current: await runtime.events(id, ann),
    explain: steps.map(({ outcome }) => outcome),
  };
}

/** Returns the outlets that leak the canary. */
const leaks = (seen: Record<string, unknown>): string[] =>
  Object.entries(seen).flatMap(([name, value]) => {
    const leak = leakIn(JSON.stringify(value));
    return leak === null ? [] : [`${name}: ${leak}`];
  });

describe.each(places)('D43: no reader sees a secret that is (%s)', (_name, makePlace) => {
  const open = (agent: Agent) => {
    const reported = vi.spyOn(console, 'error').mockImplementation(() => {});
    const runtime = runtimeOn(makePlace().open(), agent);
    const received = receiving(runtime);
    const all = async (): Promise<Record<string, unknown>> => ({
      ...(await outlets(runtime, 's')),
      // text of the model to the user is streamed unchanged
      received: received.filter(({ event }) => event.type !== 'StreamChunk'),
      reported: reported.mock.calls,
    });
    return { runtime, all };
  };

  it('in arguments, results and metadata, while the tool and the state have the original', async () => {
    const vault = mockTool('vault', { ...planted, text: words });
    const { runtime, all } = open(
      secretiveAgent([toolCall('vault', planted), final('Ok.')], vault),
    );
    await runtime.create({ ...ann, id: 's', metadata: planted });
    await runtime.send('s', `take ${byLook}`, waiting);
    const seen = await all();
    expect(leaks(seen)).toEqual([]);
    for (const outlet of ['get', 'messages', 'steps', 'events'])
      expect([outlet, JSON.stringify(seen[outlet])]).toEqual([
        outlet,
        expect.stringContaining('[redacted]'),
      ]);
    expect(vault.calls).toEqual([planted]);
    expect(vault.contexts[0]!.metadata).toEqual(planted);
    const state = await runtime.state('s', ann);
    expect(state.metadata).toEqual(planted);
    expect(state.messages.at(0)!.text).toBe(`take ${byLook}`);
    expect(state.messages.at(1)!.toolCalls[0]!.args).toEqual(planted);
    expect(JSON.parse(state.messages.at(2)!.text)).toEqual({ ...planted, text: words });
  });

  it('in arguments that wait for approval, in edits and in the reason of a denial', async () => {
    const vault = mockTool('vault', 'ok', { needsApproval: true });
    const calls = [1, 2].map(() => ({ name: 'vault', args: planted }));
    const { runtime, all } = open(secretiveAgent([toolCalls(calls), final('Ok.')], vault));
    await runtime.create({ ...ann, id: 's' });
    const paused = await runtime.send('s', 'go', waiting);
    expect(paused.pendingApprovals).toHaveLength(2);
    expect(leaks(await all())).toEqual([]);
    const [first, second] = callIds(paused);
    await runtime.approve('s', first!, { ...waiting, args: { ...planted, more: ours } });
    await runtime.deny('s', second!, { ...waiting, reason: words });
    expect(leaks(await all())).toEqual([]);
    expect(vault.calls).toEqual([{ ...planted, more: ours }]);
  });

  it('in errors of tools, and in the reasons for a stop or a pause', async () => {
    const boom = mockTool('boom', new Error(words));
    const wait = mockTool('wait', (_a: unknown, c: { requestPause(reason: string): void }) =>
      c.requestPause(words),
    );
    const steps = [toolCall('boom'), toolCall('wait'), toolCall('boom')];
    const { runtime, all } = open(secretiveAgent(steps, boom, wait));
    await runtime.create({ ...ann, id: 's' });
    expect((await runtime.send('s', 'go', waiting)).status).toBe('paused');
    expect(leaks(await all())).toEqual([]);
    await runtime.pause('s', { ...ann, reason: words });
    const stopped = await runtime.stop('s', { ...waiting, reason: words });
    expect(stopped).toMatchObject({ status: 'stopped', stopReason: 'user_requested' });
    expect(stopped.outcome!.explain()).toContain('[redacted]');
    expect(leaks(await all())).toEqual([]);
  });

  it('in a nested agent', async () => {
    const { runtime, all } = open(secretiveParent());
    await runtime.create({ ...ann, id: 's' });
    await runtime.send('s', 'go', waiting);
    expect(leaks(await all())).toEqual([]);
  });
});

it('D43: errors that the runtime throws or reports hide secrets', async () => {
  const reported = vi.spyOn(console, 'error').mockImplementation(() => {});
  const store = memoryPlace().open();
  const agent = secretiveAgent(
    [toolCall('vault', planted)],
    mockTool('vault', 1, { needsApproval: true }),
  );
  // the default report of failed work
  const runtime = runtimeOn(store, agent, {
    onError: undefined as never,
    deps: () => {
      throw new Error(`connect postgres://u:${byLook}@db`);
    },
  });
  await runtime.create({ ...ann, id: 's' });
  await runtime.send('s', 'go', ann);
  await vi.waitFor(() => expect(reported).toHaveBeenCalled(), 15_000);
  expect(leakIn(JSON.stringify(reported.mock.calls))).toBeNull();
  expect(reported.mock.calls[0]![0]).toContain('the work on session "s" failed');

  const errors = await Promise.all(
    [
      () => runtime.get(byLook, ann),
      () => runtime.create({ ...ann, id: `/${byLook}` }),
      () => runtime.list({ ...ann, cursor: byLook }),
      () => runtime.approve('s', byLook, ann),
      () => runtime.create({ ...ann, agent: byLook }),
      () => runtime.send('s', [{ type: byLook }] as never, ann),
    ].map(async (work) =>
      work().then(
        () => null,
        (error: Error) => error,
      ),
    ),
  );
  for (const error of errors) expect(leakIn(`${error?.message}`)).toBeNull();
});

describe('a codec', () => {
  /** Not a secure cipher, only one that leaves no readable text. */
  const mixed = (bytes: Uint8Array): Buffer => Buffer.from(bytes.map((byte) => byte ^ 0x5a));
  const codec: StoreCodec = {
    encode: (text) => `c1.${mixed(Buffer.from(text)).toString('base64')}`,
    decode: async (text) => mixed(Buffer.from(text.slice(3), 'base64')).toString('utf8'),
  };

  it('leaves no readable message, argument or result in the file', async () => {
    const place = sqlitePlace({ codec });
    const pay = mockTool('pay', { found: 'PLAIN result' }, { needsApproval: true });
    const inner = AgentBuilder.base()
      .withName('inner')
      .withSystemPrompt('PLAIN inner prompt')
      .withDriver(followingDriver([toolCall('look'), final('PLAIN inner answer')]))
      .withTools(mockTool('look', 'PLAIN inner result'.repeat(2_000)))
      .build()
      .asTool({ name: 'ask', description: 'PLAIN description' });
    const driver = followingDriver(
      [
        toolCall('ask', { input: 'PLAIN task' }),
        toolCalls([{ name: 'pay', args: { to: 'PLAIN arg' } }, { name: 'pay' }], 'PLAIN words'),
        final('PLAIN answer'),
      ],
      [final(`PLAIN ${'long '.repeat(5_000)}`)],
    );
    const make = () => builderWith(driver, pay, inner).withSystemPrompt('PLAIN prompt').build();
    const runtime = runtimeOn(place.open(), make());
    const messages = [{ role: 'assistant', content: 'PLAIN seed' }] as const;
    await runtime.create({ ...ann, id: 's', metadata: { PLAIN: 'PLAIN metadata' }, messages });
    const paused = await runtime.send('s', 'PLAIN message', waiting);
    const [first, second] = callIds(paused);
    await runtime.approve('s', first!, { ...waiting, args: { to: 'PLAIN edit' } });
    // a command and an answer that are not carried out
    const client = clientOn(place.open(), make());
    await client.deny('s', second!, { ...ann, reason: 'PLAIN reason' });
    await client.send('s', 'PLAIN second message', { ...ann, whenBusy: 'queue' });
    const readable = (): string[] =>
      readdirSync(place.folder).filter((name) =>
        readFileSync(join(place.folder, name)).includes('PLAIN'),
      );
    expect(readdirSync(place.folder).length).toBeGreaterThan(1);
    expect(readable()).toEqual([]);
    await runtime.recover();
    await expect.poll(async () => (await runtime.get('s', ann)).output).toContain('long');
    expect(readable()).toEqual([]);
    expect(pay.calls).toEqual([{ to: 'PLAIN edit' }]);
    const said = JSON.stringify(await runtime.messages('s', ann));
    for (const part of ['seed', 'message', 'words', 'result', 'reason', 'answer', 'second message'])
      expect(said).toContain(`PLAIN ${part}`);
    expect((await runtime.get('s', ann)).metadata).toEqual({ PLAIN: 'PLAIN metadata' });
    const fork = await runtime.fork('s', { ...ann, atStep: 2 });
    expect(readable()).toEqual([]);
    await takesAnotherTurn(place, fork.id);
    await takesAnotherTurn(place, 's');
  });
});
