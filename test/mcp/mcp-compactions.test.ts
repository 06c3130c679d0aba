import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { Message, SessionRuntime } from 'onward';
import { sqliteStore } from 'onward/stores/sqlite';
import { expect, it, onTestFinished, vi } from 'vitest';
import { modelView } from '../../src/agent/model-view.ts';
import { Messages } from '../../src/messages/messages.ts';
import { pairingProblem } from '../../src/messages/pairing.ts';
import { bundledProgram, startChild } from '../setup/child-program.ts';
import { removeFolder } from '../setup/folders.ts';
import { stateless } from '../setup/mcp-servers.ts';
import { compactingAgent, EFFECTS } from './mcp-compaction-agent.ts';

vi.setConfig({ testTimeout: 120_000 });

const ann = { owner: 'ann' };
/** Milliseconds after which a worker is killed. */
const lives = [40, 120, 250];

it('D77: workers that are killed with a server, compactions and a fallback model lose and repeat nothing', async () => {
  const server = await stateless();
  const folder = mkdtempSync(join(tmpdir(), 'onward-mcp-'));
  onTestFinished(() => removeFolder(folder));
  const path = join(folder, 'sessions.db');
  const store = sqliteStore({ path });
  const open = (work: boolean): SessionRuntime => {
    const runtime = new SessionRuntime({
      store,
      agents: [compactingAgent(server.url)],
      lease: { leaseMs: 900, heartbeatMs: 300 },
      onError: () => {},
      work,
    });
    onTestFinished(() => runtime.close());
    return runtime;
  };
  const client = open(false);
  await client.create({ ...ann, id: 's' });
  await client.send('s', 'go', ann);
  const program = await bundledProgram('test/mcp/mcp-compaction-program.ts');
  let killed = 0;
  for (const life of lives) {
    const child = startChild(program, [path, server.url]);
    await child.said('begun');
    const before = (await client.get('s', ann)).stepCount;
    // a new worker has to wait for the lease of the one before
    await expect
      .poll(
        async () => {
          const { stepCount, status } = await client.get('s', ann);
          return stepCount > before || status !== 'in_progress';
        },
        { timeout: 30_000 },
      )
      .toBe(true);
    await wait(life);
    if ((await client.get('s', ann)).status === 'in_progress') killed += 1;
    child.process.kill('SIGKILL');
    await child.gone;
  }
  expect(killed).toBeGreaterThan(0);
  const runtime = open(true);
  runtime.start();
  const done = await runtime.wait('s', ann);
  expect([done.status, done.output]).toEqual(['completed', 'done']);

  const { items: steps } = await runtime.steps('s', { ...ann, limit: 500 });
  const effects = server.effects();
  expect(new Set(effects).size).toBe(effects.length);
  const calls = steps.flatMap((step) =>
    step.toolCalls.flatMap(({ id, name, args }) =>
      name === 'st__effect'
        ? [{ args, result: step.results.find((one) => one.callId === id) }]
        : [],
    ),
  );
  expect(calls).toHaveLength(EFFECTS);
  for (const { args, result } of calls)
    if (result?.kind === 'ok') expect(effects).toContain(args['id']);
    else expect(result?.error?.code).toBe('effect_unknown');
  const { items: compactions } = await runtime.compactions('s', { ...ann, limit: 500 });
  expect(compactions.length).toBeGreaterThan(0);
  // each summary is paid once, with the step that it came before
  const spent = steps.reduce((sum, step) => sum + (step.compactionUsage?.total ?? 0), 0);
  expect(spent).toBe(105 * compactions.filter(({ kind }) => kind === 'summary').length);
  const { items: messages } = await runtime.messages('s', { ...ann, limit: 500 });
  const view = modelView(Messages.from(messages.map(Message.from)), compactions);
  expect(pairingProblem([...view])).toBeNull();
  expect(pairingProblem(messages.map(Message.from))).toBeNull();
  await store.close();
});
