import { spawn } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { SessionRuntime } from 'onward';
import { collectExport, exportSession } from 'onward/exports';
import { outlineOf, rehearse, scriptOf, sessionTest } from 'onward/testing';
import { describe, expect, it, onTestFinished } from 'vitest';
import { codeOf, memoryPlace, runtimeOn } from '../setup/sessions.ts';
import { modelsOf, noModel, testedSessions, type TestedSession } from '../setup/tested-sessions.ts';

const owner = { owner: 'dev' };

async function recordedSession(of: TestedSession) {
  const runtime: SessionRuntime = runtimeOn(
    memoryPlace().open(),
    of.agent(modelsOf(of), 'recording'),
  );
  const { id } = await runtime.create(owner);
  await of.play(runtime, id);
  return collectExport(exportSession(runtime, id, owner));
}

const agentsOf = (of: TestedSession, change: string | null = null) => ({
  agents: [of.agent(noModel, change)],
});

describe.each(testedSessions)('a rehearsal of a session: $name', (of) => {
  it('is the same with the same agent, twice', async () => {
    const session = await recordedSession(of);
    const script = scriptOf(session);
    expect(JSON.parse(JSON.stringify(script))).toEqual(script);
    const expected = outlineOf(session);
    expect(await rehearse(script, agentsOf(of))).toEqual(expected);
    expect(await rehearse(script, agentsOf(of))).toEqual(expected);
  });

  it.each(of.changes)('differs after a change: %s', async (change) => {
    const session = await recordedSession(of);
    const seen = await rehearse(scriptOf(session), agentsOf(of, change)).catch((error) => error);
    expect(seen).not.toEqual(outlineOf(session));
  });
});

describe('an exported test', () => {
  it('passes as written and fails after each change, in vitest, without a key', async () => {
    // inside this package, so that its names are found
    const folder = resolve('build', `exported-tests-${process.pid}`);
    mkdirSync(folder, { recursive: true });
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const setup = resolve('test/setup/tested-sessions.ts');
    for (const [i, of] of testedSessions.entries()) {
      const session = await recordedSession(of);
      for (const [k, change] of [null, ...of.changes].entries()) {
        const config = `./config-${i}-${k}.ts`;
        writeFileSync(
          join(folder, config),
          `import { noModel, testedSessions } from ${JSON.stringify(setup)};\n` +
            `export default { agents: [testedSessions[${i}]!.agent(noModel, ${JSON.stringify(change)})] };\n`,
        );
        const name = `${change === null ? 'pass' : 'fail'}-${i}-${k}.test.ts`;
        writeFileSync(join(folder, name), sessionTest(session, { config }));
      }
    }
    writeFileSync(
      join(folder, 'vitest.config.ts'),
      `export default { root: ${JSON.stringify(folder)}, resolve: { conditions: ['onward-source'] }, ` +
        `ssr: { resolve: { conditions: ['onward-source'] } }, test: { maxWorkers: 1, testTimeout: 60_000 } };\n`,
    );
    const report = join(folder, 'report.json');
    const args = [
      '--config',
      join(folder, 'vitest.config.ts'),
      '--reporter=json',
      `--outputFile=${report}`,
    ];
    await ended('node', ['node_modules/vitest/vitest.mjs', 'run', ...args]);
    const { testResults } = JSON.parse(readFileSync(report, 'utf8')) as {
      testResults: { name: string; status: string; message: string; assertionResults: unknown[] }[];
    };
    const changes = testedSessions.flatMap((of) => of.changes).length;
    expect(testResults.length).toBe(testedSessions.length + changes);
    for (const { name, status, assertionResults, message } of testResults) {
      // a file that could not be loaded is no failed test
      expect([name, message, assertionResults.length]).toEqual([name, '', 1]);
      const wanted = /\/pass-/.test(name) ? 'passed' : 'failed';
      expect([name, status]).toEqual([name, wanted]);
    }
  }, 240_000);

  const ended = (command: string, args: readonly string[]): Promise<number | null> =>
    new Promise((done, failed) => {
      const {
        OPENAI_API_KEY: _,
        VITEST: _v,
        VITEST_POOL_ID: _p,
        VITEST_WORKER_ID: _w,
        ...env
      } = process.env;
      const child = spawn(command, args, { stdio: 'ignore', env });
      child.on('error', failed);
      child.on('exit', done);
    });

  it('shows compactions, failures, approvals and nested agents in its outline', async () => {
    const outlines = await Promise.all(
      testedSessions.map(async (of) => JSON.stringify(outlineOf(await recordedSession(of)))),
    );
    const all = outlines.join('\n');
    for (const part of [
      '"compactions":["summary"]',
      '"errors":["overloaded"]',
      '"denied"',
      '"agent":[',
      'steps_limit by StepsLimit',
      '"order":9',
      '"output":{"pieces":7}',
    ])
      expect(all).toContain(part);
  });

  it('has no hidden character of the session, and the same values', async () => {
    const [of] = testedSessions;
    const session = await recordedSession(of!);
    const hidden = 'a\u009b2J\u202eb\u2028c';
    const messages = session.messages.map((record) =>
      record.message.role === 'user'
        ? { ...record, message: { ...record.message, content: hidden } }
        : record,
    );
    const text = sessionTest({ ...session, messages });
    expect(text).toContain('a\\u009b2J\\u202eb\\u2028c');
    expect(text).not.toMatch(/[\u007f-\u009f\u2028\u2029\u202a-\u202e]/);
  });

  it('says what it cannot repeat', async () => {
    const [of] = testedSessions;
    const session = await recordedSession(of!);
    const pruned = { ...session, events: [] };
    expect(await codeOf(async () => scriptOf(pruned))).toBe('invalid_option');
    expect(() => scriptOf(pruned)).toThrow('its events were pruned');
    expect(() =>
      scriptOf({ ...session, session: { ...session.session, phase: 'parked' } }),
    ).toThrow('it is parked');
  });

  it('answers with recorded results for the tools that are named', async () => {
    const [of] = testedSessions;
    const session = await recordedSession(of!);
    const script = scriptOf(session, { recordedTools: ['stock'] });
    // the changed tool does not run
    expect(await rehearse(script, agentsOf(of!, 'tool result'))).toEqual(outlineOf(session));
    expect(scriptOf(session).recordedTools).toEqual([]);
    for (const one of testedSessions) {
      const other = await recordedSession(one);
      const all = scriptOf(other, { recordedTools: 'all' });
      expect(await rehearse(all, agentsOf(one))).toEqual(outlineOf(other));
    }
  });
});
