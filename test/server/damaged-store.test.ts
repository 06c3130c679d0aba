import { mkdtempSync, statSync, truncateSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SessionRuntime } from 'onward';
import { agentServer } from 'onward/server';
import { sqliteStore } from 'onward/stores/sqlite';
import { expect, it, onTestFinished } from 'vitest';
import { ada, oldAgent, writeOldSessions } from '../setup/old-sessions.ts';
import { asking, type Ask } from './setup.ts';
import { removeFolder } from '../setup/folders.ts';

/** Starts a server on a truncated database file. */
async function serverOnCut(
  share: number,
): Promise<{ readonly ask: Ask; readonly errors: unknown[] }> {
  const folder = mkdtempSync(join(tmpdir(), 'onward-cut-'));
  const path = join(folder, 'sessions.db');
  const whole = sqliteStore({ path });
  await writeOldSessions(whole);
  await whole.close();
  truncateSync(path, Math.floor((statSync(path).size * share) / 8192) * 8192);
  const store = sqliteStore({ path });
  const agent = oldAgent();
  const errors: unknown[] = [];
  const onError = (error: unknown): void => void errors.push(error);
  const runtime = new SessionRuntime({ store, agents: [agent], onError });
  const server = agentServer({ runtime, owner: () => ada.owner, agents: [agent], onError });
  runtime.start();
  onTestFinished(async () => {
    await server.close();
    await runtime.close({ graceMs: 0 });
    await store.close();
    removeFolder(folder);
  });
  return { ask: asking(server), errors };
}

it.each([0.25, 0.5, 0.75])(
  'answers every route on a database file truncated to %d of its size',
  async (share) => {
    const { ask, errors } = await serverOnCut(share);
    const lines: readonly (readonly [string, object?])[] = [
      ['GET /api/sessions'],
      ['GET /api/sessions/finished'],
      ['GET /api/sessions/finished/messages'],
      ['GET /api/sessions/finished/log?executionId=e-1'],
      ['GET /api/sessions/finished/trace'],
      ['POST /api/sessions/finished/messages', { content: 'lookup more' }],
      ['POST /api/sessions/paused/approvals/call_pay_bill', { approve: true }],
      ['POST /api/sessions/paused/stop', {}],
      ['DELETE /api/sessions/forked'],
      ['GET /api/health'],
    ];
    const seen: number[] = [];
    for (const [line, body] of lines) {
      const { status, text } = await ask(line, body ? { body } : {});
      seen.push(status);
      expect([line, status < 600 && text.includes('sessions.db')]).toEqual([line, false]);
    }
    expect(seen.some((status) => status >= 500)).toBe(true);
    // the error for the operator names the file
    expect(errors.map(String).join('\n')).toContain('sessions.db');
  },
  30_000,
);
