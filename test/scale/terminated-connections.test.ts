import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { bundledProgram, startChild } from '../setup/child-program.ts';
import { postgresProxy, type PostgresProxy } from '../setup/postgres-proxy.ts';
import { startPostgres, type TestPostgres } from '../setup/postgres.ts';

vi.setConfig({ testTimeout: 90_000, hookTimeout: 90_000 });

let server: TestPostgres;
let proxy: PostgresProxy;
let program: string;
const removals: (() => void)[] = [];
beforeAll(async () => {
  server = await startPostgres();
  proxy = await postgresProxy(server.url);
  program = await bundledProgram('test/scale/connections-program.ts', (remove) =>
    removals.push(remove),
  );
});
afterAll(async () => {
  await proxy?.close();
  await server?.stop();
  for (const remove of removals) remove();
});

it.each([0, 1, 2, 3, 4, 6, 9])(
  'a worker survives a server that dies together with answer %i of each connection',
  async (answer) => {
    proxy.terminate(8, answer);
    const child = startChild(program, [proxy.url, `${process.pid}_${answer}`]);
    await Promise.all(['store', 'bus', 'queue'].map((part) => child.said(part)));
    expect(child.process.exitCode).toBeNull();
  },
);
