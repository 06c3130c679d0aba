import { show } from '../errors/agent-error.ts';
import { isRecord } from '../json.ts';
import { isPart } from '../messages/content-part.ts';
import { agentStatuses, pauseKinds } from './agent-status.ts';
import { compactionsProblem, stepCompactionFields } from './check-compactions.ts';
import { executionLists } from './execution-lists.ts';
import {
  brokenState,
  fields,
  listProblem,
  recordProblem,
  refuse,
  usageFields,
  within,
  type Problem,
} from './check-record.ts';

const counters = { usage: 'object?', stepCount: 'number?', answeredSteps: 'number?' } as const;
const infoFields = fields({
  ...counters,
  startedAt: 'string',
  updatedAt: 'string?',
  cost: 'number??',
  cumulativeExecutionSeconds: 'number?',
});
const executionFields = fields({
  ...counters,
  id: 'string',
  startedAt: 'string??',
  updatedAt: 'string??',
  cost: 'number??',
  consecutiveFailures: 'number?',
  totalFailures: 'number?',
  modelFailures: 'number?',
  toolFailures: 'number?',
  failingTools: 'list?',
  cumulativeSeconds: 'number?',
  grants: 'object?',
  grantLog: 'list?',
  family: 'list?',
  stopRequest: 'object??',
  handledStep: 'number?',
  stretchSeconds: 'number??',
  succeededTools: 'list?',
  firstMessage: 'number?',
  traceparent: 'string?',
  runs: 'list?',
});
const stepFields = fields({
  id: 'string?',
  number: 'number',
  executionId: 'string?',
  type: 'string?',
  attempt: 'number?',
  model: 'string?',
  fallback: 'string?',
  steering: 'object?',
  guards: 'list?',
  compactions: 'list?',
  modelCall: 'object?',
  modelUsage: 'object?',
  family: 'list?',
  policy: 'object?',
  compactionUsage: 'object?',
  failedModels: 'list?',
  messageIds: 'list?',
  toolCalls: 'list',
  results: 'list?',
  errors: 'list?',
  usage: 'object?',
  cost: 'number??',
  finishReason: 'string??',
  startedAt: 'string?',
  durationMs: 'number?',
  notes: 'list?',
  outcome: 'object??',
});
const callFields = fields({ id: 'string', name: 'string', args: 'object' });
const approvalFields = fields({
  callId: 'string',
  tool: 'string',
  args: 'object',
  argsHash: 'string?',
  executionId: 'string?',
  path: 'list',
});
const questionFields = fields({
  key: 'string',
  message: 'string',
  schema: 'object?',
  url: 'string?',
});
const pendingInputFields = fields({
  inputId: 'string',
  callId: 'string',
  key: 'string',
  tool: 'string',
  message: 'string',
  executionId: 'string',
  path: 'list',
  schema: 'object?',
  url: 'string?',
});
const openInputFields = fields({
  callId: 'string',
  round: 'number',
  questions: 'list',
  answers: 'list',
  state: 'string??',
});
const inputRecordFields = fields({ inputId: 'string', key: 'string', answer: 'object' });
const evaluationFields = fields({ criterion: 'string', decision: 'string', reason: 'string' });

const resultFields = fields({ callId: 'string', kind: 'string', files: 'list?', content: 'list?' });
const errorFields = fields({ type: 'string', message: 'string', requestId: 'string?' });
const modelCallFields = fields({
  model: 'string?',
  requestId: 'string?',
  rawFinishReason: 'string?',
  warnings: 'list?',
  firstTokenMs: 'number?',
  queuedMs: 'number?',
});
const steeringFields = fields({ model: 'string?', tools: 'object?', systemHash: 'string?' });
const steeredToolsFields = fields({ count: 'number', names: 'list', hash: 'string' });
const noTools = { count: 0, names: [], hash: '' };
const guardFields = fields({ name: 'string', at: 'string', decision: 'string' });
const modelFields = fields({ model: 'string', code: 'string', message: 'string' });
const outcomeFields = fields({ evaluations: 'list' });
const pauseFields = fields({ kind: 'string', at: 'string' });
const childrenFields = fields({ children: 'object?', toolSchemas: 'list?' });
const schemaFields = fields({ name: 'string', description: 'string', parameters: 'object' });
const documentFields = fields({
  agentName: 'string??',
  parentAgentId: 'string??',
  messages: 'list',
  steps: 'list',
  pause: 'object??',
  metadata: 'object?',
  approvalRules: 'list?',
  compactions: 'list?',
});
const ruleFields = fields({
  agentPath: 'list',
  tool: 'string',
  definitionHash: 'string',
  by: 'string??',
  at: 'string',
});

/** Rejects a document without the fields that the loop, the criteria and reports rely on. */
export function checkState(document: Record<string, unknown>): void {
  const { agentId, status, info, execution, unfinishedStep, lastContinuationOutcome } = document;
  if (typeof agentId !== 'string') throw brokenState(`agentId is ${show(agentId)}`, 'a string');
  if (!agentStatuses.some((known) => known === status))
    throw brokenState(`status is ${show(status)}`, `one of ${agentStatuses.join(', ')}`);
  refuse(
    within('.info', recordProblem(info, infoFields) ?? usageProblem(info)) ??
      within('.execution', recordProblem(execution, executionFields) ?? usageProblem(execution)) ??
      within('.execution', executionListProblem(execution)) ??
      recordProblem(document, documentFields) ??
      within('.approvalRules', rulesProblem(document['approvalRules'])) ??
      within(
        '.compactions',
        compactionsProblem(document['compactions'] ?? [], document['messages']),
      ) ??
      within('.steps', listProblem(document['steps'], stepProblem)) ??
      within('.unfinishedStep', unfinishedStep ? unfinishedProblem(unfinishedStep) : null) ??
      within('.lastContinuationOutcome', outcomeProblem(lastContinuationOutcome)) ??
      within('.pause', pauseProblem(document['pause'])),
  );
}

const fieldOf = (record: unknown, key: string): unknown =>
  isRecord(record) ? record[key] : undefined;

const usageProblem = (account: unknown): Problem | null =>
  within('.usage', recordProblem(fieldOf(account, 'usage') ?? {}, usageFields));

const rulesProblem = (rules: unknown): Problem | null =>
  listProblem(
    rules ?? [],
    (rule) =>
      recordProblem(rule, ruleFields) ??
      within('.agentPath', listProblem(fieldOf(rule, 'agentPath'), textProblem)),
  );

/** Rejects a recorded step without the fields that reports rely on. */
export const checkStep = (step: unknown): void => refuse(within('.step', stepProblem(step)));

const executionListProblem = (execution: unknown): Problem | null =>
  executionLists.reduce<Problem | null>(
    (found, [key, expected]) => found ?? recordsIn(execution, key, expected),
    null,
  );

/** Checks each record of a list, if there is one. */
const recordsIn = (record: unknown, key: string, expected: Parameters<typeof recordProblem>[1]) =>
  within(
    `.${key}`,
    listProblem(fieldOf(record, key) ?? [], (item) => recordProblem(item, expected)),
  );

const lists = [
  ['toolCalls', callFields],
  ['results', resultFields],
  ['errors', errorFields],
  ['failedModels', modelFields],
  ['guards', guardFields],
  ['compactions', stepCompactionFields],
] as const;

function callProblem(step: unknown): Problem | null {
  const call = fieldOf(step, 'modelCall') ?? {};
  const usage = fieldOf(step, 'modelUsage') ?? {};
  const steering = fieldOf(step, 'steering') ?? {};
  const tools = fieldOf(steering, 'tools') ?? noTools;
  return (
    within('.steering', recordProblem(steering, steeringFields)) ??
    within('.steering.tools', recordProblem(tools, steeredToolsFields)) ??
    within('.steering.tools.names', listProblem(fieldOf(tools, 'names'), textProblem)) ??
    within('.modelCall', recordProblem(call, modelCallFields)) ??
    within('.modelCall.warnings', listProblem(fieldOf(call, 'warnings') ?? [], textProblem)) ??
    within('.modelUsage', recordProblem(usage, usageFields)) ??
    within('.compactionUsage', recordProblem(fieldOf(step, 'compactionUsage') ?? {}, usageFields))
  );
}

const textProblem = (item: unknown): Problem | null =>
  typeof item === 'string' ? null : { at: '', seen: item, expected: 'a string' };

function stepProblem(step: unknown): Problem | null {
  const own = recordProblem(step, stepFields) ?? usageProblem(step) ?? callProblem(step);
  if (own) return own;
  for (const [key, expected] of lists) {
    const problem = recordsIn(step, key, expected);
    if (problem) return problem;
  }
  return (
    within('.results', listProblem(fieldOf(step, 'results') ?? [], contentProblem)) ??
    within('.outcome', outcomeProblem(fieldOf(step, 'outcome')))
  );
}

const contentProblem = (result: unknown): Problem | null =>
  within('.content', listProblem(fieldOf(result, 'content') ?? [], partProblem));

const partProblem = (part: unknown): Problem | null =>
  isPart(part) ? null : { at: '', seen: part, expected: 'a content part' };

const unfinishedProblem = (step: unknown): Problem | null =>
  stepProblem(step) ??
  recordProblem(step, childrenFields) ??
  recordsIn(step, 'toolSchemas', schemaFields) ??
  within('.inputs', listProblem(fieldOf(step, 'inputs') ?? [], openInputProblem));

const openInputProblem = (open: unknown): Problem | null =>
  recordProblem(open, openInputFields) ??
  within(
    '.questions',
    listProblem(fieldOf(open, 'questions'), (item) => recordProblem(item, questionFields)),
  ) ??
  within(
    '.answers',
    listProblem(fieldOf(open, 'answers'), (item) => recordProblem(item, inputRecordFields)),
  );

function outcomeProblem(outcome: unknown): Problem | null {
  if (outcome === undefined || outcome === null) return null;
  const isEvaluation = (item: unknown) => recordProblem(item, evaluationFields);
  return (
    recordProblem(outcome, outcomeFields) ??
    within('.evaluations', listProblem(fieldOf(outcome, 'evaluations'), isEvaluation))
  );
}

function pauseProblem(pause: unknown): Problem | null {
  if (pause === undefined || pause === null) return null;
  const isApproval = (item: unknown) => recordProblem(item, approvalFields);
  return (
    recordProblem(pause, pauseFields) ??
    pauseKindProblem(fieldOf(pause, 'kind')) ??
    within(
      '.pendingApprovals',
      listProblem(fieldOf(pause, 'pendingApprovals') ?? [], isApproval),
    ) ??
    within(
      '.pendingInputs',
      listProblem(fieldOf(pause, 'pendingInputs') ?? [], (item) =>
        recordProblem(item, pendingInputFields),
      ),
    )
  );
}

const pauseKindProblem = (kind: unknown): Problem | null =>
  pauseKinds.some((known) => known === kind)
    ? null
    : { at: '.kind', seen: kind, expected: `one of ${pauseKinds.join(', ')}` };
