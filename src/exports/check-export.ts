import { agentStatuses } from '../agent/agent-status.ts';
import { checkCompaction } from '../agent/check-compactions.ts';
import { fields, recordProblem, within, type Fields, type Problem } from '../agent/check-record.ts';
import { readStateDocument } from '../agent/state-document.ts';
import { checkStep } from '../agent/state-checks.ts';
import { ContinuationOutcome } from '../continuation/outcome.ts';
import { AgentError, show } from '../errors/agent-error.ts';
import { isRecord } from '../json.ts';
import { Message } from '../messages/message.ts';
import { isSessionId } from '../sessions/check-names.ts';
import { checkedEvent } from './check-event.ts';
import {
  countProblem,
  messageContentProblem,
  stateContentProblem,
  stepContentProblem,
  timeProblem,
} from './content-problem.ts';
import { EXPORT_FORMAT, EXPORT_VERSION, type ExportRecord } from './session-export.ts';

/** Error for a file that is not an export, or that was changed. `line` counts from 1. */
export const notAnExport = (line: number, seen: string, expected: string): AgentError =>
  new AgentError(
    'invalid_option',
    `Line ${line} of the export cannot be imported: ${seen}, expected ${expected}. ` +
      'Export the session again with: onward export <session> --json',
    { details: { option: 'export', line } },
  );

/** Most characters of a name or an id in an export. */
const MOST_ID = 1_000;
const phases = ['idle', 'open', 'paused', 'parked'];
const callStates = ['waiting', 'decided', 'started', 'committed'];

const headerFields = fields({
  exportedAt: 'string',
  isRedacted: 'boolean',
  session: 'object',
  state: 'object',
  forkedFrom: 'string?',
});
const sessionFields = fields({
  id: 'string',
  agent: 'string',
  title: 'string??',
  status: 'string',
  phase: 'string',
  tries: 'number',
  error: 'string??',
  parkedAt: 'string??',
  closeReason: 'string??',
  executionId: 'string??',
  createdAt: 'string',
  updatedAt: 'string',
  messageCount: 'number',
  stepCount: 'number',
});
const placedFields = { agentId: 'string', position: 'number' } as const;
const kinds: Readonly<Record<Exclude<ExportRecord['type'], 'session'>, Fields>> = {
  message: fields({ ...placedFields, isOpen: 'boolean?', message: 'object' }),
  compaction: fields({ ...placedFields, compaction: 'object' }),
  step: fields({ ...placedFields, step: 'object', totals: 'object' }),
  agent: fields({
    agentId: 'string',
    executionId: 'string',
    callId: 'string',
    messageCount: 'number',
    stepCount: 'number',
    state: 'object',
  }),
  call: fields({
    executionId: 'string',
    callId: 'string',
    tool: 'string',
    state: 'string',
    starts: 'number',
  }),
  event: fields({ seq: 'number', event: 'object' }),
  end: fields({ records: 'number' }),
};
const totalsFields = fields({
  messages: 'number',
  compactions: 'number?',
  execution: 'object',
  info: 'object',
});

/** Checks one record of an export, which may come from anywhere. `line` counts from 1, and the first is the header. */
export function checkedRecord(value: unknown, line: number): ExportRecord {
  if (!isRecord(value)) throw notAnExport(line, `it is ${show(value)}`, 'an object');
  if (line === 1) checkHeader(value);
  else checkBody(value, line);
  return value as unknown as ExportRecord; // checked above
}

function checkHeader(value: Record<string, unknown>): void {
  const { type, format, version } = value;
  if (type !== 'session' || format !== EXPORT_FORMAT)
    throw notAnExport(1, `its format is ${show(format)}`, show(EXPORT_FORMAT));
  if (!Number.isInteger(version) || (version as number) < 1)
    throw notAnExport(1, `its version is ${show(version)}`, `a whole number from 1`);
  if ((version as number) > EXPORT_VERSION)
    throw new AgentError(
      'unsupported_state_version',
      `This export has version ${String(version)}, and this release reads versions up to ${EXPORT_VERSION}. ` +
        'It was written by a newer release: upgrade onward here.',
      { details: { version } },
    );
  refuse(
    1,
    recordProblem(value, headerFields) ??
      within('.session', recordProblem(value['session'], sessionFields) ?? factsProblem(value)) ??
      timeProblem(value, 'exportedAt'),
  );
  checkState(value['state'], 1);
}

function factsProblem({ session }: Record<string, unknown>): Problem | null {
  if (!isRecord(session)) return null;
  const { id, status, phase, agent } = session;
  if (!isSessionId(id)) return { at: '.id', seen: id, expected: 'the id of a session' };
  if (!agentStatuses.some((known) => known === status))
    return { at: '.status', seen: status, expected: `one of ${agentStatuses.join(', ')}` };
  if (!phases.includes(String(phase)))
    return { at: '.phase', seen: phase, expected: `one of ${phases.join(', ')}` };
  if (String(agent).length > MOST_ID || agent === '')
    return { at: '.agent', seen: agent, expected: `up to ${MOST_ID} characters` };
  return (
    countProblem(session, 'messageCount') ??
    countProblem(session, 'stepCount') ??
    countProblem(session, 'tries') ??
    timeProblem(session, 'createdAt') ??
    timeProblem(session, 'updatedAt')
  );
}

function checkBody(value: Record<string, unknown>, line: number): void {
  const { type } = value;
  const expected = typeof type === 'string' && Object.hasOwn(kinds, type) ? type : null;
  if (expected === null)
    throw notAnExport(line, `its type is ${show(type)}`, `one of ${Object.keys(kinds).join(', ')}`);
  const kind = expected as keyof typeof kinds; // one of its keys
  refuse(line, recordProblem(value, kinds[kind]) ?? idProblem(value));
  try {
    checkContent(kind, value, line);
  } catch (error) {
    if (!AgentError.is(error) || error.details['option'] === 'export') throw error;
    throw notAnExport(
      line,
      `its ${kind} is damaged (${error.message})`,
      `what ${kind} records have`,
    );
  }
}

function checkContent(
  kind: keyof typeof kinds,
  value: Record<string, unknown>,
  line: number,
): void {
  switch (kind) {
    case 'message':
      refuse(line, countProblem(value, 'position'));
      Message.from(value['message'] as never); // throws unless it is one
      refuse(line, within('.message', messageContentProblem(value['message'])));
      return;
    case 'compaction':
      refuse(line, countProblem(value, 'position'));
      checkCompaction(value['compaction'], Number.MAX_SAFE_INTEGER);
      return;
    case 'step': {
      const { step, totals } = value;
      refuse(line, countProblem(value, 'position'));
      checkStep(step);
      checkOutcome(step);
      refuse(
        line,
        within('.step', stepContentProblem(step)) ?? within('.totals', totalsProblem(totals)),
      );
      // the totals of a step are those of a state
      checkState({ ...emptyState, ...(totals as object), ...emptyLists }, line);
      return;
    }
    case 'agent':
      refuse(line, countProblem(value, 'messageCount') ?? countProblem(value, 'stepCount'));
      checkState(value['state'], line);
      return;
    case 'call':
      if (!callStates.includes(String(value['state'])))
        throw notAnExport(line, `its state is ${show(value['state'])}`, callStates.join(', '));
      refuse(line, countProblem(value, 'starts'));
      return;
    case 'event':
      refuse(line, countProblem(value, 'seq') ?? checkedEvent(value['event']));
      return;
    case 'end':
      refuse(line, countProblem(value, 'records'));
  }
}

/** Readers find messages and compactions by these counts. */
const totalsProblem = (totals: unknown): Problem | null =>
  recordProblem(totals, totalsFields) ??
  countProblem(totals as Record<string, unknown>, 'messages') ??
  (isRecord(totals) && totals['compactions'] !== undefined
    ? countProblem(totals, 'compactions')
    : null);

/** Reads what a report would read, so that it fails here and not there. */
function checkOutcome(step: unknown): void {
  const outcome = isRecord(step) ? step['outcome'] : null;
  if (outcome) ContinuationOutcome.from(outcome as never); // its fields were checked
}

const emptyLists = { messages: [], steps: [], compactions: [] };
const emptyState = { version: 1, agentId: '', status: 'pending' };

/** Checks a state without its lists. */
function checkState(state: unknown, line: number): void {
  if (!isRecord(state)) throw notAnExport(line, `its state is ${show(state)}`, 'an object');
  try {
    readStateDocument({ ...state, ...emptyLists });
  } catch (error) {
    if (!AgentError.is(error, 'invalid_state')) throw error;
    throw notAnExport(line, `its state is damaged (${error.message})`, 'the state of a session');
  }
  refuse(line, within('.state', stateContentProblem(state)));
}

function refuse(line: number, problem: Problem | null): void {
  if (problem)
    throw notAnExport(line, `${problem.at.slice(1)} is ${show(problem.seen)}`, problem.expected);
}

function idProblem(value: Record<string, unknown>): Problem | null {
  for (const key of ['agentId', 'executionId', 'callId', 'tool'])
    if (typeof value[key] === 'string' && value[key].length > MOST_ID)
      return { at: `.${key}`, seen: value[key], expected: `up to ${MOST_ID} characters` };
  return null;
}
