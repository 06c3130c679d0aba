import type { AgentStepJSON } from '../../agent/agent-state.ts';
import type { OwnerOptions } from '../../sessions/session-options.ts';
import type { SessionRuntime } from '../../sessions/session-runtime.ts';
import type { StoredModelCall } from '../../sessions/requests/read-model-call.ts';
import { placeOf, type StepPlace } from './step-place.ts';
import type { ModelAttempt, ModelCallDocument } from './model-call-document.ts';
import { PayloadTexts } from './payload-text.ts';
import { requestDocument, responseDocument } from './request-document.ts';

export interface ModelCallQuery extends OwnerOptions, StepPlace {
  /** Which messages to show. Default `new`: those that the call before did not have. */
  readonly messages?: 'new' | 'all';
  /** Index of the first message to show. Default 0. */
  readonly from?: number;
}

/** Most messages of one document, and most attempts. */
const MOST_MESSAGES = 50;
const MOST_ATTEMPTS = 20;

/** Reads how the model was called in one step, redacted and bounded. */
export async function readModelCall(
  runtime: SessionRuntime,
  sessionId: string,
  query: ModelCallQuery,
): Promise<ModelCallDocument> {
  const { messages = 'new', from = 0 } = query;
  const place = { owner: query.owner, ...placeOf(query) };
  const { step } = place;
  const call = await runtime.modelCall(sessionId, place);
  const texts = new PayloadTexts();
  return {
    sessionId,
    executionId: call.step?.executionId ?? null,
    step,
    status: call.status,
    attempts: await attemptsOf(runtime, sessionId, place, call),
    request: requestDocument(call, { messages, from, limit: MOST_MESSAGES }, texts),
    response: responseDocument(call, texts),
  };
}

/** Returns the failed calls before the one of the step, and that one. */
async function attemptsOf(
  runtime: SessionRuntime,
  sessionId: string,
  place: OwnerOptions & StepPlace,
  { step, redactor }: StoredModelCall,
): Promise<readonly ModelAttempt[]> {
  if (step === null) return [];
  const first = Math.max(1, step.number - Math.min(step.attempt - 1, MOST_ATTEMPTS));
  const before: AgentStepJSON[] = [];
  for (let number = first; number < step.number; number++) {
    const earlier = await runtime.modelCall(sessionId, { ...place, step: number, bare: true });
    if (earlier.step) before.push(earlier.step);
  }
  return [...before, step].map((each) => redactor.value(attemptOf(each)));
}

function attemptOf({
  number,
  type,
  model,
  modelCall,
  errors,
  durationMs,
}: AgentStepJSON): ModelAttempt {
  const error = type === 'error' ? errors[0] : undefined;
  return {
    step: number,
    model: model ?? modelCall?.model ?? null,
    requestId: modelCall?.requestId ?? error?.requestId ?? null,
    error: error
      ? {
          code: error.code,
          message: error.message,
          ...(error.status !== undefined && { status: error.status }),
        }
      : null,
    durationMs,
  };
}
