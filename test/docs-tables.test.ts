import { readdirSync, readFileSync } from 'node:fs';
import { SessionRuntime } from 'onward';
import { evalReportFolder } from 'onward/evals/node';
import { agUiServer } from 'onward/ag-ui';
import { mcpServer } from 'onward/mcp/server';
import { agentServer } from 'onward/server';
import { memoryStore } from 'onward/stores/memory';
import { DeterministicDriver } from 'onward/testing';
import { describe, expect, it } from 'vitest';
import { exitCodes } from '../src/cli/exit-codes.ts';
import { builderWith } from './setup/sessions.ts';

/** Returns the rows of the table whose header contains this word. */
function rowsOf(page: string, head: string): readonly (readonly string[])[] {
  const tables = readFileSync(page, 'utf8').split(/\n\n+/);
  const table = tables.find((text) => text.startsWith('|') && text.split('\n')[0]?.includes(head));
  return (table ?? '')
    .trim()
    .split('\n')
    .slice(2)
    .map((row) =>
      row
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim()),
    );
}

describe('tables in the docs match the code', () => {
  it('routes of the server', async () => {
    const agent = builderWith(DeterministicDriver.fromResponses()).build();
    const runtime = new SessionRuntime({ store: memoryStore(), agents: [agent] });
    const pusher = { key: 'key', secret: 'secret' };
    const { openapi, close } = agentServer({
      runtime,
      owner: () => null,
      pusher,
      mcp: mcpServer({ runtime }),
      agUi: agUiServer({ runtime }),
      admin: () => null,
      evals: evalReportFolder('build/no-evals'),
    });
    const known = Object.entries(openapi['paths'] as Record<string, object>).flatMap(
      ([path, methods]) =>
        Object.keys(methods)
          .filter((name) => /^(?:get|post|put|patch|delete)$/.test(name))
          .map((method) => `${method.toUpperCase()} ${path.replace(/^\/api/, '')}`),
    );
    const reported = rowsOf('docs/server.md', 'route').map(([route = '']) =>
      route.replaceAll('`', '').replaceAll(/\s+/g, ' '),
    );
    const plain = (route: string): string => route.replaceAll(/\{\w+\}/g, '{}');
    expect(reported.map(plain).toSorted()).toEqual(known.map(plain).toSorted());
    await close();
    await runtime.close();
  });

  it('exit codes of the command line', () => {
    const reported = rowsOf('docs/cli.md', 'code').map(([code, name = '', meaning = '']) => ({
      code: Number(code),
      name: name.replaceAll('`', ''),
      meaning,
    }));
    expect(reported).toEqual(exitCodes);
  });

  it('providers marked "samples" have samples in the driver tests', () => {
    const folder = 'src/inference/drivers';
    const tests = readdirSync(folder)
      .filter((file) => file.endsWith('.test.ts'))
      .map((file) => readFileSync(`${folder}/${file}`, 'utf8'))
      .join('\n');
    const rows = rowsOf('docs/models.md', 'tested with');
    expect(rows.length).toBeGreaterThan(15);
    const without = rows
      .filter(([, , how = '']) => how.includes('samples'))
      .map(([name = '']) => name.replace('Azure OpenAI', 'Azure'))
      .filter((name) => !tests.includes(name));
    expect(without).toEqual([]);
  });
});
