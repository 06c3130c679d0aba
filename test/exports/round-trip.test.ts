import type { SessionRuntime } from 'onward';
import { exportLine, exportSession, importSession, parseExport } from 'onward/exports';
import { describe, expect, it } from 'vitest';
import { readTrace } from '../../src/trace/index.ts';
import { exportedCases, played } from '../setup/exported-sessions.ts';
import { ann, places, runtimeOn } from '../setup/sessions.ts';

const bob = { owner: 'bob' };

async function textOf(runtime: SessionRuntime, id: string, more = {}): Promise<string> {
  let text = '';
  for await (const record of exportSession(runtime, id, { ...ann, ...more }))
    text += exportLine(record);
  return text;
}

/** Everything that can be read of a session. */
async function reading(runtime: SessionRuntime, id: string, owner: string) {
  const { executionId, imported: _, ...session } = await runtime.get(id, { owner });
  return {
    session: { ...session, id: '', owner: '', updatedAt: '', allowance: null },
    messages: await runtime.messages(id, { owner }),
    steps: await runtime.steps(id, { owner }),
    compactions: await runtime.compactions(id, { owner }),
    events: await runtime.events(id, { owner }),
    accounts: await runtime.accounts(id, { owner }),
    executionId,
  };
}

describe.each(places)('an export in a %s store', (_name, place) => {
  it.each(exportedCases)('is read like the session that it was made of: $name', async (of) => {
    const runtime = runtimeOn(place().open(), of.agent());
    const id = await played(runtime, of);
    const text = await textOf(runtime, id);
    const imported = await importSession(runtime, text, bob);
    expect(imported).toMatchObject({
      owner: 'bob',
      agent: (await runtime.get(id, ann)).agent,
      imported: { sessionId: id, isRedacted: true },
    });
    expect(await reading(runtime, imported.id, 'bob')).toEqual(await reading(runtime, id, 'ann'));
    const [before, after] = await Promise.all([
      readTrace(runtime, id, ann),
      readTrace(runtime, imported.id, bob),
    ]);
    const { stop } = before;
    const shown = stop && {
      ...stop,
      goOnIf: null,
      action: null,
      explanation: { ...stop.explanation, actions: [] },
    };
    // a pause ends with the export
    const still = (trace: object): unknown =>
      JSON.parse(JSON.stringify(trace, (key, value: unknown) => (key === 'pausedMs' ? 0 : value)));
    expect(still({ ...after, sessionId: id })).toEqual(still({ ...before, stop: shown }));
  });

  it('is the same after an import and another export', async () => {
    for (const of of exportedCases) {
      const runtime = runtimeOn(place().open(), of.agent());
      const id = await played(runtime, of);
      const first = await parseExport(await textOf(runtime, id));
      const imported = await importSession(runtime, await textOf(runtime, id), ann);
      const second = await parseExport(await textOf(runtime, imported.id));
      const { updatedAt, id: _ } = second.session;
      expect({
        ...second,
        exportedAt: first.exportedAt,
        calls: second.calls.length,
        session: { ...second.session, id },
      }).toEqual({
        ...first,
        calls: second.calls.length,
        session: { ...first.session, updatedAt },
      });
    }
  });
});
