import {
  brokenState,
  fields,
  listProblem,
  recordProblem,
  refuse,
  within,
  type Problem,
} from '../agent/check-record.ts';
import { AgentError, show } from '../errors/agent-error.ts';
import { isRecord, parseJson } from '../json.ts';
import {
  SLIM_VERSION,
  type SlimMessage,
  type SlimRest,
  type SlimState,
  type SlimStep,
} from './slim-state.ts';

/** A document with a checked shape. `rest` may be missing if a UI passed the document on. */
export type CheckedSlimState = Omit<SlimState, 'rest'> & { readonly rest?: SlimRest };

const documentFields = fields({
  agent_id: 'string',
  status: 'string',
  session: 'object',
  execution: 'object',
  pause: 'object??',
  messages: 'list',
  steps: 'list',
  current_step: 'object??',
  pending_approvals: 'list',
  pending_inputs: 'list?',
  last_continuation: 'object??',
  metadata: 'object',
  truncated: 'object??',
  rest: 'object?',
});
const sessionFields = fields({ started_at: 'string', usage: 'object' });
const executionFields = fields({
  id: 'string',
  usage: 'object',
  session_cumulative_seconds: 'number',
});
const messageFields = fields({ role: 'string', tool_calls: 'list?' });
const stepFields = fields({
  id: 'string',
  tool_calls: 'list',
  results: 'list',
  errors: 'list',
  usage: 'object',
  outcome: 'object??',
  inputs: 'list?',
  children: 'object?',
});
const inputFields = fields({ questions: 'list', answers: 'list' });
const restFields = fields({
  evaluations: 'list',
  results: 'list',
  succeeded_tools: 'list',
  grant_log: 'list?',
  family: 'list?',
  runs: 'list?',
  traceparent: 'string?',
  failures: 'object?',
  compactions: 'list?',
});
const partFields = fields({ type: 'string' });
const resultFields = fields({ error: 'object?' });
const truncatedFields = fields({ missing: 'list' });

/** Checks the parts of a document that reading relies on. `AgentState.from` checks the rest. */
export function checkedSlimState(json: unknown): CheckedSlimState {
  const slim = typeof json === 'string' ? parsed(json) : json;
  if (!isRecord(slim)) throw brokenState(`it is ${show(slim)}`, 'the result of serialize()');
  checkVersion(slim);
  const { session, execution, messages, steps, current_step, truncated, rest } = slim;
  refuse(
    recordProblem(slim, documentFields) ??
      within('.session', recordProblem(session, sessionFields)) ??
      within('.execution', recordProblem(execution, executionFields)) ??
      within('.messages', listProblem(messages, messageProblem)) ??
      within('.steps', listProblem(steps, stepProblem)) ??
      within('.current_step', current_step ? stepProblem(current_step) : null) ??
      within('.pending_approvals', listProblem(slim['pending_approvals'], isAnyRecord)) ??
      within('.truncated', truncated ? recordProblem(truncated, truncatedFields) : null) ??
      within('.rest', rest ? restProblem(rest) : null),
  );
  return slim as unknown as CheckedSlimState; // the checks above prove the parts that reading relies on
}

const isAnyRecord = (item: unknown): Problem | null => recordProblem(item, []);
const isOpenInput = (item: unknown): Problem | null => recordProblem(item, inputFields);
const isResult = (item: unknown): Problem | null => recordProblem(item, resultFields);

function messageProblem(message: unknown): Problem | null {
  const own = recordProblem(message, messageFields);
  if (own) return own;
  const { content, tool_calls } = message as SlimMessage;
  const isPart = (part: unknown) => recordProblem(part, partFields);
  return (
    within('.tool_calls', listProblem(tool_calls ?? [], isAnyRecord)) ??
    within('.content', typeof content === 'string' ? null : listProblem(content, isPart))
  );
}

function stepProblem(step: unknown): Problem | null {
  const own = recordProblem(step, stepFields);
  if (own) return own;
  const { tool_calls, results, errors, outcome, inputs = [] } = step as SlimStep;
  const evaluations: unknown = outcome?.evaluations;
  return (
    within('.tool_calls', listProblem(tool_calls, isAnyRecord)) ??
    within('.results', listProblem(results, isResult)) ??
    within('.inputs', listProblem(inputs, isOpenInput)) ??
    within('.errors', listProblem(errors, isAnyRecord)) ??
    within('.outcome.evaluations', outcome ? listProblem(evaluations, isAnyRecord) : null)
  );
}

function restProblem(rest: unknown): Problem | null {
  const own = recordProblem(rest, restFields);
  if (own) return own;
  const { evaluations, results, compactions = [] } = rest as SlimRest;
  return (
    within('.evaluations', listProblem(evaluations, isAnyRecord)) ??
    within('.results', listProblem(results, isResult)) ??
    within('.compactions', listProblem(compactions, isAnyRecord))
  );
}

function checkVersion(slim: Record<string, unknown>): void {
  const { version } = slim;
  if ('agentId' in slim)
    throw brokenState(
      'it has the keys of a whole state',
      'a slim one; read it with AgentState.from()',
    );
  if (!Number.isInteger(version) || (version as number) < 1)
    throw brokenState(`its version is ${show(version)}`, `a whole number up to ${SLIM_VERSION}`);
  if ((version as number) > SLIM_VERSION)
    throw new AgentError(
      'unsupported_state_version',
      `This slim state has version ${String(version)}, and this release reads versions up to ${SLIM_VERSION}. ` +
        'It was written by a newer release: upgrade onward here, or finish the session there.',
      { details: { version } },
    );
}

function parsed(text: string): unknown {
  const read = parseJson(text);
  if (read.ok) return read.value;
  throw brokenState(
    `its text is not JSON (${read.error})`,
    'the JSON of the result of serialize()',
  );
}
