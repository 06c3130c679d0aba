import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createAgent, SessionRuntime } from 'onward';
import { defineEval, runEval } from 'onward/evals';
import { evalReportFolder } from 'onward/evals/node';
import { agentServer } from 'onward/server';
import { memoryStore } from 'onward/stores/memory';
import { describe, expect, it, onTestFinished } from 'vitest';
import { scriptOf } from '../setup/eval-script.ts';
import { removeFolder } from '../setup/folders.ts';
import { operator, setup } from './setup.ts';

const root = { as: 'root' } as const;

async function served() {
  const folder = mkdtempSync(join(tmpdir(), 'onward-evals-'));
  onTestFinished(() => removeFolder(folder));
  const evals = evalReportFolder(folder);
  const report = await runEval(
    defineEval({
      name: 'leads',
      agent: createAgent({ driver: scriptOf([{ text: 'hi' }]) }),
      cases: [{ input: 'hello' }, { input: 'hello', expected: { stopReason: 'guard' } }],
    }),
  );
  await evals.save(report);
  await evals.save(report);
  return { ...setup({ admin: operator, evals }), report };
}

describe('the routes of eval reports', () => {
  it('list suites with their runs, and read a report', async () => {
    const { ask, report } = await served();
    const { body } = await ask('GET /api/admin/evals', root);
    expect(body.suites).toMatchObject([{ name: 'leads', runs: [{ number: 2 }, { number: 1 }] }]);
    const newest = await ask('GET /api/admin/evals/report?suite=leads', root);
    expect(newest.body).toEqual({ report: { ...report, number: 2 } });
    const first = await ask('GET /api/admin/evals/report?suite=leads&number=1', root);
    expect(first.body.report).toMatchObject({ number: 1, counts: { passed: 1, failed: 1 } });
  });

  it.each(['suite=leads&number=9', 'suite=nothing', 'suite=..%2Fleads', 'suite=%2e%2e'])(
    'find nothing for %s',
    async (query) => {
      const { ask } = await served();
      const { status, body } = await ask(`GET /api/admin/evals/report?${query}`, root);
      expect([status, body]).toEqual([200, { report: null }]);
    },
  );

  it.each(['', 'suite=leads&number=0', 'suite=leads&number=x'])('refuse %j', async (query) => {
    const { ask } = await served();
    const { status } = await ask(`GET /api/admin/evals/report?${query}`, root);
    expect(status).toBe(400);
  });

  it('are for operators only', async () => {
    const { ask } = await served();
    for (const path of ['/api/admin/evals', '/api/admin/evals/report?suite=leads'])
      for (const as of ['ann', null]) {
        const { status, body } = await ask(`GET ${path}`, { as });
        expect([status, body.error.code]).toEqual([403, 'forbidden']);
      }
  });

  it('need an admin hook', () => {
    const agents = [createAgent({ driver: scriptOf([]) })];
    const runtime = new SessionRuntime({ store: memoryStore(), agents });
    const evals = evalReportFolder('nowhere');
    expect(() => agentServer({ runtime, owner: () => null, evals })).toThrow(
      'the option admin too',
    );
  });
});
