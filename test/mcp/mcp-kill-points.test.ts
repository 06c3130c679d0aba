import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { mcp } from 'onward/mcp';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { cuttingProxy, type CutPoint } from '../setup/cutting-proxy.ts';
import { removeFolder } from '../setup/folders.ts';
import { caller, resultsOf, stateless } from '../setup/mcp-servers.ts';
import { pause } from '../setup/sessions.ts';

vi.setConfig({ testTimeout: 60_000 });

/** What the first of two calls comes to, and how often it takes effect. */
type Row<Point> = readonly [
  point: Point,
  result: 'done' | 'effect_unknown',
  effects: number,
  repeated: number,
];

describe('D74: a stdio server that is killed', () => {
  it.each<Row<string>>([
    ['start', 'done', 1, 1],
    ['before connected', 'done', 1, 1],
    ['before list', 'done', 1, 1],
    ['after list', 'done', 1, 1],
    ['before effect', 'effect_unknown', 0, 1],
    ['after effect', 'effect_unknown', 1, 2],
    ['in answer', 'effect_unknown', 1, 2],
    ['after answer', 'done', 1, 1],
  ])('at the point "%s"', async (point, result, effects, repeated) => {
    for (const isIdempotent of [false, true]) {
      const folder = mkdtempSync(join(tmpdir(), 'onward-mcp-'));
      onTestFinished(() => removeFolder(folder));
      const file = join(folder, 'notes');
      writeFileSync(file, '');
      const server = {
        name: 'm',
        command: process.execPath,
        args: [resolve('test/mcp/servers/mortal.mjs'), point, file],
      };
      const options = { required: true, idempotent: isIdempotent ? ['effect'] : [] };
      // a kill between calls is noticed before the next one
      const calls = [['m__effect'], ['m__effect']] as const;
      const { run } = caller(mcp(server, options), calls, () => pause(150));
      expect(resultsOf(await run())).toEqual([isIdempotent ? 'done' : result, 'done']);
      const lines = readFileSync(file, 'utf8').split('\n');
      expect(lines).toContain('killed');
      // the second call takes effect once
      const first = lines.filter((line) => line === 'effect').length - 1;
      expect(first).toBe(isIdempotent ? repeated : effects);
    }
  });
});

describe('D74: an HTTP server that is killed', () => {
  it.each<Row<CutPoint>>([
    ['before request', 'effect_unknown', 0, 1],
    ['in request', 'effect_unknown', 0, 1],
    ['before answer', 'effect_unknown', 1, 2],
    ['in answer', 'effect_unknown', 1, 2],
    ['after answer', 'done', 1, 1],
  ])('at the point "%s"', async (point, result, effects, repeated) => {
    for (const isIdempotent of [false, true]) {
      const server = await stateless();
      let restarting = Promise.resolve();
      const { url } = await cuttingProxy(server.url, point, () => {
        restarting = server.kill().then(server.start);
        return restarting;
      });
      const options = { idempotent: isIdempotent ? ['effect'] : [] };
      const { run } = caller(
        mcp({ name: 'st', url }, options),
        [
          ['st__effect', { id: 'first' }],
          ['st__effect', { id: 'second' }],
        ],
        async () => {
          await pause(50);
          await restarting;
        },
      );
      expect(resultsOf(await run())).toEqual([isIdempotent ? 'done' : result, 'done']);
      const lines = server.effects();
      expect(lines.filter((id) => id === 'first')).toHaveLength(isIdempotent ? repeated : effects);
      expect(lines.filter((id) => id === 'second')).toHaveLength(1);
    }
  });
});

describe('a kept socket', () => {
  it('that the server closed between calls costs nothing', async () => {
    const server = await stateless();
    const proxy = await cuttingProxy(server.url, null, async () => {});
    const { run } = caller(
      mcp({ name: 'st', url: proxy.url }),
      [
        ['st__effect', { id: 'a' }],
        ['st__effect', { id: 'b' }],
        ['st__effect', { id: 'c' }],
      ],
      async () => {
        proxy.closeAll();
        await pause(50);
      },
    );
    expect(resultsOf(await run())).toEqual(['done', 'done', 'done']);
    expect(server.effects()).toEqual(['a', 'b', 'c']);
    expect(proxy.connections).toBeGreaterThan(3);
  });

  it('that dies as the call is sent: the effect is unknown, and only an idempotent call is repeated', async () => {
    for (const isIdempotent of [false, true]) {
      const server = await stateless();
      const { url } = await cuttingProxy(server.url, 'before request', async () => {});
      const { run } = caller(mcp({ name: 'st', url }, { idempotent: () => isIdempotent }), [
        ['st__effect', { id: 'a' }],
        ['st__effect', { id: 'b' }],
      ]);
      expect(resultsOf(await run())).toEqual([isIdempotent ? 'done' : 'effect_unknown', 'done']);
      expect(server.effects()).toEqual(isIdempotent ? ['a', 'b'] : ['b']);
    }
  });
});

it('D73: a stateless server that was restarted announces changed lists again', async () => {
  const server = await stateless();
  const { run, offered } = caller(
    mcp({ name: 'st', url: server.url }),
    [['st__pid'], ['st__grow', { name: 'later' }], ['st__pid'], ['st__later']],
    async (number) => {
      if (number === 2) {
        await server.kill();
        await server.start();
        // the stream of announcements opens again
        await pause(2_500);
      }
      // the announcement comes on a stream of its own
      if (number === 3) await pause(500);
    },
  );
  const pid = expect.stringMatching(/^\d+$/);
  expect(resultsOf(await run())).toEqual([pid, 'grown', pid, 'later']);
  expect(offered().at(1)).not.toContain('st__later');
  expect(offered().at(-1)).toContain('st__later');
});
