import { AppendOnly } from '../append-only.ts';
import { ContinuationOutcome } from '../continuation/outcome.ts';
import { AgentError, show } from '../errors/agent-error.ts';
import { zeroUsage } from '../inference/usage.ts';
import { isRecord } from '../json.ts';
import { Messages } from '../messages/messages.ts';
import type { AgentStateData, AgentStateJSON, AgentStepJSON } from './agent-state.ts';
import { agentStatuses } from './agent-status.ts';
import type { AgentStep } from './agent-step.ts';
import { newExecution, newSessionInfo } from './execution.ts';
import { STATE_VERSION, stateMigrations } from './state-migrations.ts';

/** Reads a state document of any version we ever wrote, or says what is wrong with it. */
export function readStateDocument(json: unknown): AgentStateData {
  if (!isRecord(json)) throw broken(`it is ${show(json)}`, 'the object that state.toJSON() gives');
  const document = migrated(json);
  check(document);
  const info = { ...newSessionInfo(''), ...document.info };
  const execution = { ...newExecution('', null, 0), ...document.execution };
  return {
    ...document,
    version: STATE_VERSION,
    info: { ...info, usage: { ...zeroUsage, ...info.usage } },
    execution: { ...execution, usage: { ...zeroUsage, ...execution.usage } },
    executionStartedAt: null,
    messages: readMessages(document.messages),
    steps: AppendOnly.of(document.steps.map(readStep)),
    unfinishedStep: document.unfinishedStep
      ? {
          ...readStep(document.unfinishedStep),
          children: document.unfinishedStep.children,
        }
      : null,
    lastContinuationOutcome: readOutcome(document.lastContinuationOutcome),
    pause: document.pause ?? null,
    output: document.output ?? null,
    partialOutput: document.partialOutput ?? null,
    parentAgentId: document.parentAgentId ?? null,
    agentName: document.agentName ?? null,
    metadata: document.metadata ?? {},
  };
}

function migrated(json: Record<string, unknown>): AgentStateJSON {
  const { version } = json;
  if (!Number.isInteger(version) || (version as number) < 0)
    throw broken(`its version is ${show(version)}`, `a whole number up to ${STATE_VERSION}`);
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
  return document as unknown as AgentStateJSON; // check() proves the parts that we rely on
}

function check(document: AgentStateJSON): void {
  const { agentId, status, info, execution, messages, steps } = document;
  if (typeof agentId !== 'string') throw broken(`agentId is ${show(agentId)}`, 'a string');
  if (!agentStatuses.includes(status))
    throw broken(`status is ${show(status)}`, `one of ${agentStatuses.join(', ')}`);
  if (!isRecord(info) || typeof info['startedAt'] !== 'string')
    throw broken(`info is ${show(info)}`, 'an object with startedAt');
  if (!isRecord(execution) || typeof execution['id'] !== 'string')
    throw broken(`execution is ${show(execution)}`, 'an object with id');
  if (!Array.isArray(messages)) throw broken(`messages is ${show(messages)}`, 'a list');
  if (!Array.isArray(steps)) throw broken(`steps is ${show(steps)}`, 'a list');
  for (const [i, step] of steps.entries())
    if (!isRecord(step) || typeof step['number'] !== 'number' || !Array.isArray(step['toolCalls']))
      throw broken(`steps[${i}] is ${show(step)}`, 'a step with number and toolCalls');
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

function readStep(step: AgentStepJSON): AgentStep {
  return Object.freeze({ ...step, outcome: readOutcome(step.outcome) });
}

const readOutcome = (json: AgentStepJSON['outcome'] | undefined): ContinuationOutcome | null =>
  json ? ContinuationOutcome.from(json) : null;

const broken = (seen: string, expected: string): AgentError =>
  new AgentError('invalid_state', `This is not a state document: ${seen}, expected ${expected}.`);
