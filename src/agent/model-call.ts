import { Cancelled } from '../cancellation.ts';
import { AgentError } from '../errors/agent-error.ts';
import type { InferenceRequest, InferenceResponse } from '../inference/inference-driver.ts';
import { withBudgetNote } from './budget-note.ts';
import { bookCompaction } from './compact-first.ts';
import { GuardBlocked, type AgentGuards } from './guard.ts';
import { ModelAnswer } from './model-answer.ts';
import { loadPrice } from './model-chain.ts';
import { toolsSent } from './offered-tools.ts';
import type { Run } from './run.ts';
import { sentMessages } from './sent-messages.ts';
import { steeringOf } from './steer-step.ts';
import type { StepDraft } from './step-draft.ts';
import type { StepGuards } from './step-guards.ts';
import { onDemand } from '../on-demand.ts';

/** Calls the model once and fills the draft with an answer, a failure, or the part before an interruption. */
export async function callModel(run: Run, draft: StepDraft): Promise<void> {
  if (draft.model.price === undefined) await loadPrice(draft.model);
  const guards = run.agent.guards === null ? null : await guardsOf(run, draft, run.agent.guards);
  const answer = new ModelAnswer(run, draft, guards?.holds ?? false);
  const { offered } = draft;
  const infer = (given: InferenceRequest): Promise<InferenceResponse> =>
    run.observation === null
      ? answer.infer(given)
      : run.observation.modelCall(draft, given, () => answer.infer(given));
  let returned: InferenceResponse | null = null;
  try {
    const { modelCall } = run.agent.hooks;
    const request = requestFor(run, draft);
    const call = async (): Promise<InferenceResponse> =>
      modelCall
        ? run.cancellation.race(
            modelCall(
              request,
              async (given) => {
                draft.offered =
                  given.tools === request.tools ? offered : toolsSent(offered, given.tools);
                return answer.noted(await infer(given));
              },
              run.hookContext,
            ),
          )
        : infer(request);
    returned = guards ? await guards.around(answer, call) : await call();
    await guards?.after(returned);
    draft.steering = steeringOf(run, draft);
    answer.accept(returned);
    answer.close();
  } catch (thrown) {
    if (isMisuse(thrown)) throw thrown;
    draft.steering = steeringOf(run, draft);
    answer.close();
    if (run.cancellation.cause?.by === 'handover') answer.drop();
    else if (run.cancellation.cause || thrown instanceof Cancelled) answer.cut();
    else if (thrown instanceof GuardBlocked) answer.block(returned);
    else answer.fail(thrown);
  } finally {
    if (guards) draft.addGuardUsage();
    run.parent?.family?.leave(run, draft);
    bookCompaction(draft);
  }
}

/** Most agents have no guards: they do not load the code. */
async function guardsOf(run: Run, draft: StepDraft, guards: AgentGuards): Promise<StepGuards> {
  const { StepGuards: Guards } = await onDemand(import('./step-guards.ts'));
  return new Guards(run, draft, guards);
}

/** Whether an error is misuse by the caller, which `run()` throws, and not a failed model call. */
export const isMisuse = (thrown: unknown): boolean =>
  AgentError.is(thrown) && thrown.code !== 'model_call_failed';

function requestFor(run: Run, draft: StepDraft): InferenceRequest {
  const { agent } = run;
  const { systemCache, response } = agent;
  const { system, offered } = draft;
  const { catalog } = offered.found ?? {};
  const prompt = catalog === undefined ? system : [system, catalog].filter(Boolean).join('\n\n');
  const isChanged = system !== agent.systemPrompt;
  const sent = viewOf(run);
  // only a journal keeps what rebuilds the request
  if (run.journal !== null) draft.view = isChanged ? sent : { ...sent, prompt };
  const { view } = sent;
  return {
    system: prompt,
    // a prompt that changes between steps is not worth a mark, unless the user set one
    ...((systemCache || isChanged) && { systemCache }),
    messages: agent.budgetNote ? withBudgetNote(run, view) : view,
    tools: offered.toolSchemas,
    toolChoice: draft.softLanding === null ? offered.toolChoice : 'none',
    responseFormat: response?.format ?? null,
  };
}

function viewOf({ agent, compactor, state }: Run): NonNullable<StepDraft['view']> {
  const { messages } = state;
  const { length } = messages;
  if (compactor !== null)
    return { view: compactor.view, messages: length, compactions: state.compactions };
  return agent.guards === null
    ? { view: messages, messages: length, compactions: null }
    : { view: sentMessages(messages), messages: length, compactions: [] };
}
