import { describe, expect, it } from 'vitest';
import type { WorkerLoad } from './session-store.ts';
import { describedWorker } from './worker-description.ts';
import { workerView, type WorkerStatus } from './worker-view.ts';

const described = {
  host: 'web-1',
  pid: 7,
  agents: ['support'],
  startedAt: '2026-01-01T00:00:00.000Z',
  everyMs: 10_000,
  active: 2,
  isDraining: false,
};
const body = JSON.stringify(described);
const draining = JSON.stringify({ ...described, isDraining: true });
const load = (patch: Partial<WorkerLoad>): WorkerLoad => ({
  worker: 'w',
  leases: 0,
  expired: 0,
  body,
  seenMsAgo: 3,
  ...patch,
});

describe('workerView', () => {
  it.each<[Partial<WorkerLoad>, WorkerStatus, string]>([
    [{}, 'idle', 'it reports, and holds nothing'],
    [{ leases: 2 }, 'busy', 'it holds leases'],
    [{ leases: 1, expired: 1 }, 'busy', 'one lease is enough to be alive'],
    [{ expired: 1 }, 'lost', 'all of its leases ran out'],
    [{ seenMsAgo: 20_000 }, 'idle', 'two reports may be late'],
    [{ seenMsAgo: 20_001 }, 'lost', 'it is silent'],
    [{ leases: 1, seenMsAgo: 99_000 }, 'busy', 'a lease counts more than reports'],
    [{ body: null, seenMsAgo: null, leases: 1 }, 'busy', 'it made no report'],
    [{ body: null, seenMsAgo: null, expired: 1 }, 'lost', 'it made no report and is gone'],
    [{ body: draining }, 'draining', 'it says so'],
    [{ body: draining, leases: 1 }, 'draining', 'it finishes what it holds'],
    [{ body: draining, expired: 1 }, 'lost', 'it did not finish'],
    [{ body: 'nonsense' }, 'idle', 'a report that cannot be read is a sign of life'],
    [{ body: '{"everyMs":1e9}', seenMsAgo: 30_000 }, 'lost', 'no report makes it immortal'],
    [{ body: '{"everyMs":100}', seenMsAgo: 201 }, 'lost', 'short leases report more often'],
  ])('%j is %s: %s', (patch, status) => {
    expect(workerView(load(patch)).status).toBe(status);
  });

  it('shows what the worker reported, and null for what it did not', () => {
    const { everyMs: _every, isDraining: _draining, ...shown } = described;
    const same = { id: 'w', status: 'busy', leases: 1, expired: 0 };
    expect(workerView(load({ leases: 1, seenMsAgo: 3.4 }))).toEqual({
      ...same,
      ...shown,
      seenMsAgo: 3,
    });
    expect(workerView(load({ leases: 1, body: null, seenMsAgo: null }))).toEqual({
      ...same,
      host: null,
      pid: null,
      agents: null,
      startedAt: null,
      active: null,
      seenMsAgo: null,
    });
  });
});

describe('describedWorker', () => {
  it.each([null, '', '7', '[]', 'null', '"text"', '{'])('reads nothing in %j', (text) => {
    expect(describedWorker(text)).toBeNull();
  });

  it('reads each field that it understands, bounded, and no other', () => {
    const said = {
      host: 'h'.repeat(5_000),
      pid: -1,
      agents: ['a', 7, '', ...Array.from({ length: 5_000 }, (_, i) => `agent-${i}`)],
      startedAt: 'yesterday',
      everyMs: 'often',
      active: 1.5,
      isDraining: 'yes',
      token: 'secret',
    };
    const read = describedWorker(JSON.stringify(said));
    expect(read).toMatchObject({
      pid: null,
      startedAt: null,
      everyMs: 10_000,
      active: 0,
      isDraining: false,
    });
    expect(read?.host).toHaveLength(255);
    expect(read?.agents.length).toBeLessThan(1_000);
    expect(JSON.stringify(read)).not.toContain('secret');
  });
});
