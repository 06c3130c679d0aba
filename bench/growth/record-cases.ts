import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AgentState, type AgentStateJSON } from '../../src/agent/agent-state.ts';
import { parseExport, type ExportSource } from '../../src/exports/read-export.ts';
import { replay } from '../../src/replay/replay.ts';
import { replayModel } from '../../src/testing/replay-model.ts';
import type { GrowthCase } from './cases.ts';
import { pieces } from './texts.ts';

const now = '2026-11-17T12:00:00.000Z';

const {
  messages: _,
  steps: _steps,
  compactions: _compactions,
  ...emptyState
} = AgentState.empty({
  agentId: 'a',
  now: 0,
}).toJSON();
const exportHeader = JSON.stringify({
  type: 'session',
  format: 'onward.session',
  version: 1,
  exportedAt: now,
  isRedacted: true,
  session: {
    id: 's',
    agent: 'a',
    title: null,
    status: 'completed',
    phase: 'idle',
    tries: 0,
    error: null,
    parkedAt: null,
    closeReason: null,
    executionId: null,
    createdAt: now,
    updatedAt: now,
    messageCount: 0,
    stepCount: 0,
  },
  state: emptyState,
  definition: null,
});
const exportOf = (records: readonly object[]): string =>
  [
    exportHeader,
    ...[...records, { type: 'end', records: records.length + 1 }].map((one) => JSON.stringify(one)),
  ].join('\n');
const exportedText = (content: string, position: number): object => ({
  type: 'message',
  agentId: '',
  position,
  message: { id: `m${position}`, role: 'user', content, createdAt: now },
});
const readExported = (source: ExportSource): Promise<unknown> => parseExport(source);
/** What a damaged or foreign export makes of its reader: it is refused, and that is no failure here. */
const refused = (source: ExportSource): Promise<unknown> =>
  parseExport(source).then(
    () => {
      throw new Error('This export was not refused.');
    },
    (error: unknown) => error,
  );

const cassetteFolder = mkdtempSync(join(tmpdir(), 'onward-growth-'));
process.on('exit', () => rmSync(cassetteFolder, { recursive: true, force: true }));
let cassettes = 0;
function cassetteOf(calls: readonly object[]): string {
  const file = join(cassetteFolder, `${(cassettes += 1)}.jsonl`);
  const lines = [
    { format: 'onward.cassette', version: 1, driver: { name: 'x' }, ignore: [] },
    ...calls,
  ];
  writeFileSync(file, lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
  return file;
}
const readCassette = (file: string): number => replayModel(file).remaining;
const cassetteCall = (call: number, more: object = {}): object => ({
  call,
  hash: `h${call}`,
  definition: 'd',
  messages: [],
  ...more,
});

/** A run of so many steps that call a tool, and whether they keep why they were not the last one. */
const runOf = (count: number, isReasoned: boolean): AgentStateJSON => {
  const empty = AgentState.empty({ agentId: 'a', now: 0 }).toJSON();
  const why = { criterion: 'StepsLimit', decision: 'allow', reason: 'few', context: {} } as const;
  return {
    ...empty,
    execution: { ...empty.execution, id: 'e', startedAt: now, stepCount: count },
    steps: Array.from({ length: count }, (_, i) => ({
      id: `s${i}`,
      executionId: 'e',
      number: i + 1,
      type: 'tool_calls' as const,
      toolCalls: [{ id: `c${i}`, name: 't', args: {} }],
      results: [],
      startedAt: now,
      outcome: {
        decision: 'request',
        shouldContinue: true,
        resolvedBy: 'ToolCallPresenceCheck',
        stopReason: null,
        evaluations: isReasoned ? [why] : [],
      },
    })) as never,
  };
};

/** Readers of whole sessions, runs and cassettes. */
export const recordCases: readonly GrowthCase[] = [
  {
    name: 'parseExport: many messages',
    input: (size) =>
      exportOf(Array.from({ length: size / 100 }, (_, i) => exportedText('hello', i))),
    run: readExported,
  },
  {
    name: 'parseExport: one long message, by character',
    input: (size) => pieces(exportOf([exportedText('a'.repeat(size), 0)]), 1),
    run: readExported,
  },
  {
    name: 'parseExport: empty lines, by character',
    input: (size) =>
      pieces(exportOf([exportedText('\n'.repeat(size), 0)]).replace('\n', '\n'.repeat(size)), 1),
    run: readExported,
  },
  {
    name: 'parseExport: a line that never ends',
    input: (size) => `${exportHeader}\n{"type":"${'a'.repeat(size)}`,
    run: refused,
  },
  {
    name: 'parseExport: deep values',
    input: (size) => `${exportHeader}\n${'['.repeat(size / 2)}${']'.repeat(size / 2)}`,
    run: refused,
  },
  {
    name: 'replayModel: many calls',
    input: (size) =>
      cassetteOf(Array.from({ length: size / 60 }, (_, i) => cassetteCall(i + 1, { after: i }))),
    run: readCassette,
  },
  {
    name: 'replayModel: calls of one hash, in reverse order',
    input: (size) =>
      cassetteOf(
        Array.from({ length: size / 60 }, (_, i) => cassetteCall(size - i, { hash: 'same' })),
      ),
    run: readCassette,
  },
  {
    name: 'replayModel: one long message',
    input: (size) =>
      cassetteOf([cassetteCall(1, { messages: [{ role: 'user', content: '"'.repeat(size) }] })]),
    run: readCassette,
  },
  {
    name: 'replay: many steps',
    input: (size) => runOf(size / 40, true),
    run: (state: AgentStateJSON) => replay(state, { limits: { maxSteps: 1_000_000 } }),
  },
  {
    name: 'replay: many steps without reasons',
    input: (size) => runOf(size / 40, false),
    run: (state: AgentStateJSON) => replay(state, { limits: { maxSteps: 1_000_000 } }),
  },
];
