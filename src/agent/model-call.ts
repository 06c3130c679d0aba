import { Cancelled } from '../cancellation.ts';
import { AgentError } from '../errors/agent-error.ts';
import type { InferenceRequest, InferenceResponse } from '../inference/inference-driver.ts';
import { withBudgetNote } from './budget-note.ts';
import { GuardBlocked, type AgentGuards } from './guard.ts';
import { ModelAnswer } from './model-answer.ts';
import { toolsSent } from './offered-tools.ts';
import type { Run } from './run.ts';
import { sentMessages } from './sent-messages.ts';
import { steeringOf } from './steer-step.ts';
import type { StepDraft } from './step-draft.ts';
import type { StepGuards } from './step-guards.ts';

/** Calls the model once and fills the draft with an answer, a failure, or the part before an interruption. */
export async function callModel(run: Run, draft: StepDraft): Promise<void> {
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
  }
}

/** Most agents have no guards: they do not load the code. */
async function guardsOf(run: Run, draft: StepDraft, guards: AgentGuards): Promise<StepGuards> {
  const { StepGuards: Guards } = await import('./step-guards.ts');
  return new Guards(run, draft, guards);
}

/** Whether an error is misuse by the caller, which `run()` throws, and not a failed model call. */
export const isMisuse = (thrown: unknown): boolean =>
  AgentError.is(thrown) && thrown.code !== 'model_call_failed';

function requestFor(run: Run, draft: StepDraft): InferenceRequest {
  const { agent } = run;
  const { systemCache, budgetNote, response } = agent;
  const { system, offered } = draft;
  const { catalog } = offered.found ?? {};
  const prompt = catalog === undefined ? system : [system, catalog].filter(Boolean).join('\n\n');
  const isChanging = budgetNote || system !== agent.systemPrompt;
  return {
    system: budgetNote ? withBudgetNote(run, prompt) : prompt,
    // a prompt that changes with each step is not worth a mark, unless the user set one
    ...((systemCache || isChanging) && { systemCache }),
    messages: agent.guards === null ? run.state.messages : sentMessages(run.state.messages),
    tools: offered.toolSchemas,
    toolChoice: draft.softLanding === null ? offered.toolChoice : 'none',
    responseFormat: response?.format ?? null,
  };
}
