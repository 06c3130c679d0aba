import { AppendOnly } from '../append-only.ts';
import type { GrantRecord } from '../continuation/grant-allowance.ts';
import { countsIn } from '../continuation/retry-account.ts';
import { ContinuationOutcome } from '../continuation/outcome.ts';
import { AgentError, show } from '../errors/agent-error.ts';
import { zeroUsage } from '../inference/usage.ts';
import { isRecord } from '../json.ts';
import { Messages } from '../messages/messages.ts';
import type { AgentStateData, AgentStateJSON, AgentStepJSON } from './agent-state.ts';
import type { AgentStep } from './agent-step.ts';
import { noRules } from './approval-rules.ts';
import { brokenState } from './check-record.ts';
import { noCompactions } from './compaction.ts';
import { newExecution, newSessionInfo } from './execution.ts';
import { copiedRuns } from './run-records.ts';
import { checkState } from './state-checks.ts';
import { STATE_VERSION, stateMigrations } from './state-migrations.ts';

/** Reads a state document of any released version, or throws with the first problem. */
export function readStateDocument(json: unknown): AgentStateData {
  if (!isRecord(json))
    throw brokenState(`it is ${show(json)}`, 'the object that state.toJSON() returns');
  const migratedJson = migrated(json);
  checkState(migratedJson);
  const document = migratedJson as unknown as AgentStateJSON; // checkState() proves what we rely on
  for (const child of Object.values(document.unfinishedStep?.children ?? {}))
    readStateDocument(child);
  const info = { ...newSessionInfo(''), ...document.info };
  const execution = { ...newExecution('', null, 0), ...document.execution };
  const counts = countsIn(document.execution, lastTypeOf(document));
  return {
    ...document,
    version: STATE_VERSION,
    info: {
      ...info,
      usage: { ...zeroUsage, ...info.usage },
      cumulativeExecutionSeconds: time(info.cumulativeExecutionSeconds),
    },
    // deep copies: the state freezes them, and the caller's document must stay unfrozen
    execution: {
      ...execution,
      ...counts,
      ...(counts.failingTools && { failingTools: counts.failingTools.map((one) => ({ ...one })) }),
      usage: { ...zeroUsage, ...execution.usage },
      cumulativeSeconds: time(execution.cumulativeSeconds),
      grants: { ...execution.grants },
      ...(execution.grantLog && { grantLog: execution.grantLog.map(copyOf) }),
      ...(execution.runs && { runs: copiedRuns(execution.runs) }),
      ...(execution.family && { family: execution.family.map((share) => ({ ...share })) }),
      succeededTools: [...execution.succeededTools],
      stopRequest: execution.stopRequest && { ...execution.stopRequest },
    },
    executionStartedAt: null,
    messages: readMessages(document.messages),
    steps: AppendOnly.of(document.steps.map(readStep)),
    unfinishedStep: document.unfinishedStep
      ? {
          ...readStep(document.unfinishedStep),
          children: document.unfinishedStep.children ?? {},
        }
      : null,
    lastContinuationOutcome: readOutcome(document.lastContinuationOutcome),
    pause: document.pause
      ? { ...document.pause, pendingApprovals: document.pause.pendingApprovals ?? [] }
      : null,
    output: document.output ?? null,
    partialOutput: document.partialOutput ?? null,
    parentAgentId: document.parentAgentId ?? null,
    agentName: document.agentName ?? null,
    metadata: document.metadata ?? {},
    approvalRules: Object.freeze(
      (document.approvalRules ?? noRules).map((rule) => Object.freeze({ ...rule })),
    ),
    compactions: Object.freeze(
      (document.compactions ?? noCompactions).map((one) =>
        Object.freeze({ ...one, usage: Object.freeze({ ...zeroUsage, ...one.usage }) }),
      ),
    ),
  };
}

/** Type of the last step of the execution. An interrupted step counts nothing. */
const lastTypeOf = ({ steps, execution }: AgentStateJSON): AgentStep['type'] | undefined =>
  steps.findLast((step) => step.executionId === execution.id && step.type !== 'cut')?.type;

const copyOf = (entry: GrantRecord): GrantRecord => ({ ...entry, grant: { ...entry.grant } });

function migrated(json: Record<string, unknown>): Record<string, unknown> {
  const { version } = json;
  if (!Number.isInteger(version) || (version as number) < 0)
    throw brokenState(`its version is ${show(version)}`, `a whole number up to ${STATE_VERSION}`);
  if ((version as number) > STATE_VERSION)
    throw new AgentError(
      'unsupported_state_version',
      `This state has version ${String(version)}, and this release reads versions up to ${STATE_VERSION}. ` +
        'It was written by a newer release: upgrade onward here, or finish the session there.',
      { details: { version } },
    );
  let document = json;
  for (let from = version as number; from < STATE_VERSION; from++)
    document = stateMigrations[from]?.(document) ?? document;
  return document;
}

function readMessages(messages: AgentStateJSON['messages']): Messages {
  try {
    return Messages.from(messages);
  } catch (cause) {
    throw new AgentError(
      'invalid_state',
      `This is not a state document: ${cause instanceof Error ? cause.message : String(cause)}`,
      { cause },
    );
  }
}

/** Fills in fields that the earliest documents omitted. */
function readStep(step: AgentStepJSON): AgentStep {
  return Object.freeze({
    ...emptyStep,
    ...step,
    usage: { ...zeroUsage, ...step.usage },
    ...(step.modelUsage && { modelUsage: { ...zeroUsage, ...step.modelUsage } }),
    durationMs: time(step.durationMs ?? 0),
    outcome: readOutcome(step.outcome),
  });
}

/** Corrects negative times, which release 0.1.0 wrote if the wall clock was set back. */
const time = (counted: number): number => Math.max(0, counted);

const emptyStep: Omit<AgentStep, 'number' | 'toolCalls' | 'outcome'> = {
  id: '',
  executionId: '',
  type: 'final',
  attempt: 1,
  messageIds: [],
  results: [],
  errors: [],
  usage: zeroUsage,
  cost: null,
  finishReason: null,
  startedAt: '',
  durationMs: 0,
  notes: [],
};

const readOutcome = (json: AgentStepJSON['outcome'] | undefined): ContinuationOutcome | null =>
  json ? ContinuationOutcome.from(json) : null;
