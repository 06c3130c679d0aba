import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import fc from 'fast-check';
import { AgentError, AgentState, type AgentStateJSON } from 'onward';
import { collectExport, exportSession } from 'onward/exports';
import { replay, replaySession, type ReplayResult } from 'onward/replay';
import { describe, expect, it } from 'vitest';
import { damage } from '../fixtures/states/damage.ts';
import { ada, oldAgent } from '../setup/old-sessions.ts';
import { runtimeOn, sqlitePlace } from '../setup/sessions.ts';

const states = 'test/fixtures/states';
const files = 'test/fixtures/sqlite';

const documentIn = (file: string): AgentStateJSON =>
  JSON.parse(readFileSync(join(states, file), 'utf8')) as AgentStateJSON;

const codesOf = ({ incomplete }: ReplayResult): readonly string[] =>
  incomplete.map(({ code }) => code);

/** What records of releases before replays lack. */
const before = ['no_policy', 'no_runs', 'no_times'];

/** Each frozen document: its decisions, and why they are uncertain. */
const lacking: Readonly<Record<string, { stopsAt: number | null; steps: number; why: string[] }>> =
  {
    'v0-completed.json': { steps: 0, stopsAt: null, why: ['no_steps'] },
    'v0-with-steps.json': { steps: 1, stopsAt: null, why: [...before, 'no_evaluations', 'totals'] },
    'v1-completed.json': { steps: 2, stopsAt: 2, why: before },
    'v1-failed.json': { steps: 3, stopsAt: 3, why: before },
    'v1-in-progress.json': { steps: 1, stopsAt: null, why: before },
    'v1-paused-nested.json': { steps: 0, stopsAt: null, why: ['no_steps', 'unfinished'] },
    'v1-paused.json': { steps: 0, stopsAt: null, why: ['no_steps', 'unfinished'] },
    'v2-failed.json': { steps: 3, stopsAt: 3, why: before },
  };

describe('replays of states of every version (D86)', () => {
  const frozen = readdirSync(states).filter((file) => file.endsWith('.json'));

  it('has a row for each frozen state', () => {
    expect(frozen).toEqual(Object.keys(lacking));
  });

  it.each(Object.entries(lacking))(
    '%s: the same decisions, and says what is uncertain',
    (file, { stopsAt, steps, why }) => {
      const json = documentIn(file);
      for (const recorded of [json, AgentState.from(json)]) {
        const result = replay(recorded);
        expect(result).toMatchObject({ change: 'same', firstDifference: null, stopsAt });
        expect(result.steps).toHaveLength(steps);
        for (const { recorded: was, replayed } of result.steps)
          if (was !== null)
            expect(replayed).toMatchObject({
              shouldContinue: was.shouldContinue,
              resolvedBy: was.resolvedBy,
              stopReason: was.stopReason,
            });
        expect(codesOf(result)).toEqual(why);
        for (const { text } of result.incomplete) expect(text).toMatch(/^[A-Z0-9].+\.$/);
      }
    },
  );

  it.each(frozen)('%s: other limits never fail', (file) => {
    const json = documentIn(file);
    for (const limits of [{ maxSteps: 1 }, { maxTokens: 1 }, { maxCost: 0.01 }, { seconds: 0.001 }])
      expect(codesOf(replay(json, { limits }))).toEqual(lacking[file]?.why);
  });

  it('property: rejects a damaged state as invalid, or replays it', () => {
    const path = fc.array(fc.nat({ max: 40 }), { minLength: 1, maxLength: 8 });
    const broken = fc.constantFrom(null, '', 'soon', -1, 1e300, [], {}, '9999');
    const limits = fc.constantFrom(undefined, { maxSteps: 1, seconds: 1 });
    let replayed = 0;
    fc.assert(
      fc.property(
        fc.constantFrom(...frozen),
        path,
        broken,
        limits,
        (file, places, value, given) => {
          const json = documentIn(file);
          damage(json, places, value);
          try {
            replay(json, given && { limits: given });
            replayed += 1;
          } catch (error) {
            if (!AgentError.is(error)) throw error;
          }
        },
      ),
      { numRuns: 2_000 },
    );
    expect(replayed).toBeGreaterThan(200);
  });
});

describe('replays of sessions in old files (D86)', () => {
  it.each(readdirSync(files).filter((file) => file.endsWith('.db.gz')))(
    '%s: the same decisions, and says what is uncertain',
    async (file) => {
      const place = sqlitePlace();
      writeFileSync(join(place.folder, 'sessions.db'), gunzipSync(readFileSync(join(files, file))));
      const runtime = runtimeOn(place.open(), oldAgent());
      const judge = async (id: string, executionId?: string) => {
        const given = executionId === undefined ? {} : { executionId };
        const result = await replaySession(runtime, id, { ...ada, ...given });
        expect(result).toMatchObject({ change: 'same', firstDifference: null });
        const exported = await collectExport(exportSession(runtime, id, ada));
        expect(replay(exported, given)).toMatchObject({ change: 'same' });
        return codesOf(result);
      };
      expect(await judge('finished', 'e-1')).toEqual(before);
      expect(await judge('finished')).toEqual(before);
      expect(await judge('forked')).toEqual(before);
      for (const id of ['paused', 'queued', 'left'])
        await expect(judge(id)).rejects.toThrow('no recorded step');

      // what this release adds to an old run is recorded, and the rest stays uncertain
      const wait = { ...ada, wait: true };
      await runtime.approve('paused', 'call_pay_bill', wait);
      expect(await judge('paused')).toEqual([]);
      await runtime.resume('forked', wait);
      expect(await judge('forked')).toEqual(before);
      await runtime.send('finished', 'lookup more', wait);
      expect(await judge('finished')).toEqual([]);
      expect(await judge('finished', 'e-2')).toEqual(before);
    },
  );
});
