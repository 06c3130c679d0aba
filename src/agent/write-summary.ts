import { messageOf } from '../errors/error-record.ts';
import type { InferenceRequest, InferenceResponse } from '../inference/inference-driver.ts';
import { readFailure } from '../inference/inference-error.ts';
import { costOfUsage } from '../inference/prices.ts';
import { isReport, readResponse } from '../inference/read-response.ts';
import { costOf, usageOf, zeroUsage, type Usage } from '../inference/usage.ts';
import { Message } from '../messages/message.ts';
import { Messages } from '../messages/messages.ts';
import { loadPrice, type AgentModel } from './model-chain.ts';
import type { Run } from './run.ts';
import type { StepDraft } from './step-draft.ts';
import { summaryPrompt, transcriptOf } from './summary-text.ts';

/** Most characters of a summary, whatever the model wrote. */
const MAX_CHARACTERS = 40_000;
/** Fewest words that a summary may have. */
const MIN_WORDS = 100;
/** Words of a token, roughly. */
const WORDS = 0.7;

/** What one call for a summary gave. */
export interface SummaryAttempt {
  /** Null if there is no usable summary; `problem` then says why. */
  readonly text: string | null;
  readonly problem: string | null;
  readonly usage: Usage;
  /** Null if the price is unknown. */
  readonly cost: number | null;
}

/** What to summarize. */
export interface SummaryTask {
  readonly model: AgentModel;
  readonly messages: readonly Message[];
  /** Text of the newest summary; null if there is none. */
  readonly before: string | null;
  /** Tokens that a summary should have at most, and that the request may have. */
  readonly tokens: number;
  readonly maxRequest: number;
}

/** Asks a model once for a summary. Never throws because of the model: a failure is in `problem`. */
export async function writeSummary(
  run: Run,
  draft: StepDraft,
  task: SummaryTask,
): Promise<SummaryAttempt> {
  const family = run.parent?.family;
  if (family && !(await family.admit(run)))
    return { text: null, problem: 'a limit is used up', usage: zeroUsage, cost: 0 };
  let attempt: SummaryAttempt | null = null;
  if (task.model.price === undefined) await loadPrice(task.model);
  try {
    attempt = read(await ask(run, draft, requestFor(task), task.model), task.model);
  } catch (error) {
    const { usage, cost = null } = readFailure(error).partial;
    attempt = {
      text: null,
      problem: run.redactor.text(messageOf(error)),
      ...spent(usage, cost, task.model),
    };
  } finally {
    family?.leave(run, attempt && { ...attempt, failure: null, isTruncated: true });
  }
  return attempt;
}

function requestFor({ messages, before, tokens, maxRequest }: SummaryTask): InferenceRequest {
  const words = Math.max(MIN_WORDS, Math.round(tokens * WORDS));
  return {
    system: summaryPrompt(words),
    // the request is sent once
    systemCache: false,
    messages: Messages.from([Message.user(transcriptOf(messages, before, maxRequest))]),
    tools: [],
    toolChoice: 'none',
    responseFormat: null,
  };
}

/** Calls the model inside the hooks around model calls, so that they see everything that is sent. */
async function ask(
  run: Run,
  draft: StepDraft,
  request: InferenceRequest,
  model: AgentModel,
): Promise<InferenceResponse> {
  const { cancellation, journal, agent, hookContext } = run;
  const call = async (given: InferenceRequest): Promise<InferenceResponse> => {
    for (let proof = journal?.confirm(); proof; proof = journal?.confirm()) await proof;
    return cancellation.race(model.driver.infer(given, { signal: cancellation.signal }));
  };
  const observed = (given: InferenceRequest): Promise<InferenceResponse> =>
    run.observation === null
      ? call(given)
      : run.observation.modelCall(draft, given, () => call(given), model);
  const { modelCall } = agent.hooks;
  return cancellation.race(
    modelCall ? modelCall(request, observed, hookContext) : observed(request),
  );
}

function read(response: InferenceResponse, model: AgentModel): SummaryAttempt {
  const { usage, cost = null } = response ?? {};
  const used = spent(usage, cost, model);
  const answer = readResponse(response);
  const problem = isReport(answer)
    ? answer.message
    : answer.finishReason !== 'stop'
      ? `the answer ended with ${answer.finishReason}`
      : answer.content.trim() === ''
        ? 'the answer is empty'
        : answer.content.length > MAX_CHARACTERS
          ? `the answer has ${answer.content.length} characters`
          : null;
  if (isReport(answer) || problem !== null) return { text: null, problem, ...used };
  return { text: answer.content.trim(), problem: null, ...used };
}

function spent(
  reported: Partial<Usage> | null | undefined,
  given: number | null,
  { price }: AgentModel,
): Pick<SummaryAttempt, 'usage' | 'cost'> {
  const usage = usageOf(reported);
  const own = costOf(given);
  return { usage, cost: own ?? (reported && price ? costOfUsage(usage, price) : null) };
}
