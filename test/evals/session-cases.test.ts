import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createAgent, defineTool, SessionRuntime } from 'onward';
import {
  calledTools,
  caseFromExport,
  casesFromSessions,
  defineEval,
  outputEquals,
  runEval,
  stoppedBecause,
} from 'onward/evals';
import { readDataset } from 'onward/evals/node';
import { collectExport, exportLine, exportSession } from 'onward/exports';
import { memoryStore } from 'onward/stores/memory';
import { describe, expect, it, onTestFinished } from 'vitest';
import { scriptOf } from '../setup/eval-script.ts';
import { removeFolder } from '../setup/folders.ts';

const owner = { owner: 'ann' } as const;
const search = defineTool({
  name: 'search',
  description: 'Searches.',
  parameters: { type: 'object' },
  execute: () => ({ found: 3 }),
});
const secret = 'sk-abcdefghijklmnopqrstuvwx';
const agentWith = (q: string, answer: string) =>
  createAgent({
    name: 'finder',
    driver: scriptOf([
      { calls: [{ name: 'search', args: { q } }] },
      { text: answer },
      { text: 'a second answer' },
    ]),
    tools: [search],
  });

async function recorded() {
  const runtime = new SessionRuntime({
    store: memoryStore(),
    agents: [agentWith('lamps', `Three lamps. Key ${secret}`)],
  });
  const first = await runtime.create({ ...owner, id: 'one' });
  await runtime.send(first.id, `Find lamps, ${secret}`, { ...owner, wait: true });
  await runtime.send(first.id, 'And more?', { ...owner, wait: true });
  await runtime.create({ ...owner, id: 'empty' });
  await runtime.create({ owner: 'bob', id: 'two' });
  await runtime.send('two', 'Find chairs', { owner: 'bob', wait: true });
  return runtime;
}

describe('casesFromSessions', () => {
  it('reads the first message with its recorded answer, calls and stop reason, redacted', async () => {
    const runtime = await recorded();
    const cases = await casesFromSessions(runtime, owner);
    expect(cases).toMatchObject([
      {
        name: 'one',
        input: 'Find lamps, [redacted]',
        expected: {
          output: 'Three lamps. Key [redacted]',
          calls: [{ tool: 'search', args: { q: 'lamps' } }],
          stopReason: 'completed',
        },
        metadata: { sessionId: 'one' },
      },
    ]);
    await runtime.close();
  });

  it('reads the same case from an export, also as a file', async () => {
    const runtime = await recorded();
    const [expected] = await casesFromSessions(runtime, owner);
    const records = [];
    for await (const record of exportSession(runtime, 'one', owner)) records.push(record);
    expect(caseFromExport(await collectExport(records))).toEqual(expected);
    const folder = mkdtempSync(join(tmpdir(), 'onward-evals-'));
    onTestFinished(() => removeFolder(folder));
    const file = join(folder, 'session.jsonl');
    writeFileSync(file, records.map(exportLine).join(''));
    expect(await readDataset(file)).toEqual([expected]);
    writeFileSync(file, records.slice(0, -1).map(exportLine).join(''));
    await expect(readDataset(file)).rejects.toThrow('the export is not complete');
    await runtime.close();
  });

  it('is limited to the owner', async () => {
    const runtime = await recorded();
    await expect(casesFromSessions(runtime, { ...owner, ids: ['two'] })).rejects.toMatchObject({
      code: 'session_not_found',
    });
    expect(await casesFromSessions(runtime, { owner: 'carl' })).toEqual([]);
    await runtime.close();
  });

  it('shows where a changed agent differs from what was recorded', async () => {
    const runtime = await recorded();
    const suite = (agent: ReturnType<typeof agentWith>) =>
      defineEval({
        name: 'recorded',
        agent,
        cases: () => casesFromSessions(runtime, { owner: 'bob' }),
        scorers: [calledTools(), outputEquals(), stoppedBecause()],
      });
    const same = await runEval(suite(agentWith('lamps', 'Three lamps. Key [redacted]')));
    expect(same).toMatchObject({ passed: true, counts: { cases: 1, passed: 1 } });
    const changed = await runEval(suite(agentWith('chairs', 'Three chairs.')));
    expect(changed.cases[0]?.runs[0]?.scores.map(({ status }) => status)).toEqual([
      'fail',
      'fail',
      'pass',
    ]);
    await runtime.close();
  });
});
