import type { InferenceResponse } from '../inference/inference-driver.ts';
import { Message } from '../messages/message.ts';
import { isoTime } from '../clock.ts';
import { askGuards } from './ask-guards.ts';
import { GuardBlocked, type AgentGuard, type AgentGuards } from './guard.ts';
import type { ModelAnswer } from './model-answer.ts';
import { unblockedInput } from './sent-messages.ts';
import type { Run } from './run.ts';
import type { StepDraft } from './step-draft.ts';
import { isOffered } from './tool-calls.ts';

/** Asks the guards around one model call. */
export class StepGuards {
  readonly #run: Run;
  readonly #draft: StepDraft;
  readonly #output: readonly AgentGuard[];
  /** Guards that have not passed the message yet. */
  readonly #input: readonly AgentGuard[];
  readonly #model = new AbortController();

  constructor(run: Run, draft: StepDraft, { input, output }: AgentGuards) {
    this.#run = run;
    this.#draft = draft;
    this.#output = output;
    this.#input = input.filter(({ name }) => !hasPassed(run, name));
    if (this.#input.length > 0)
      draft.modelSignal = AbortSignal.any([run.cancellation.signal, this.#model.signal]);
  }

  /** Whether the answer is held back until guards have passed. */
  get holds(): boolean {
    return this.#input.length > 0 || this.#holdsOutput;
  }

  get #holdsOutput(): boolean {
    return this.#output.some(({ isHeld }) => isHeld);
  }

  /** Calls the model once the message may be sent, beside the other guards of the message. */
  async around(
    answer: ModelAnswer,
    call: () => Promise<InferenceResponse>,
  ): Promise<InferenceResponse> {
    await this.#ask(this.#input.filter(({ isParallel }) => !isParallel));
    const beside = this.#input.filter(({ isParallel }) => isParallel);
    const calling = call();
    // a blocked call is left alone
    calling.catch(() => {});
    try {
      await this.#ask(beside);
    } catch (error) {
      this.#model.abort(error);
      throw error;
    }
    if (!this.#holdsOutput) answer.release();
    return calling;
  }

  async #ask(guards: readonly AgentGuard[]): Promise<void> {
    if (guards.length === 0) return;
    const messages = unblockedInput(this.#run.state);
    const text = messages.map((message) => message.text).join('\n\n');
    try {
      await askGuards(this.#run, this.#draft, guards, { text, messages });
    } catch (error) {
      if (error instanceof GuardBlocked) this.#leaveOut(messages.map(({ id }) => id));
      throw error;
    }
  }

  /** Marks messages that later requests leave out. */
  #leaveOut(blocked: readonly string[]): void {
    const metadata = { guard: { blocked } };
    const createdAt = isoTime(this.#run.now());
    this.#draft.addMessage(
      Message.trusted({ role: 'assistant', content: '', createdAt, metadata }),
    );
  }

  /** Checks an answer before it is recorded. */
  async after({ content, refusal, reasoning, toolCalls }: InferenceResponse): Promise<void> {
    const isFinal = !Array.isArray(toolCalls) || toolCalls.length === 0;
    const guards = this.#output.filter((guard) => isFinal || !guard.isFinalOnly);
    const text = [content, refusal].find((one) => typeof one === 'string' && one !== '') ?? '';
    if (guards.length === 0 || (text.trim() === '' && !reasoning)) return;
    await askGuards(this.#run, this.#draft, guards, {
      text,
      reasoning: reasoning ?? null,
      isFinal,
    });
  }
}

/** Whether an earlier try at the same message was passed. An answered step was. */
function hasPassed({ state: { steps, execution } }: Run, name: string): boolean {
  if (execution.answeredSteps > 0) return true;
  for (let i = steps.length - 1; i >= 0; i--) {
    const step = steps.at(i);
    if (step?.executionId !== execution.id) return false;
    const isPassed = step.guards?.some(
      (record) => record.at === 'input' && record.name === name && record.decision === 'passed',
    );
    if (isPassed) return true;
  }
  return false;
}

/** Calls that a guard blocks: their places in the step, and what their results say. */
export interface BlockedCalls {
  readonly places: readonly number[];
  readonly text: string;
}

/** Asks the guards of calls before any of them runs. Returns whether they may run, else the calls that are blocked. */
export async function guardCalls(
  run: Run,
  draft: StepDraft,
  guards: readonly AgentGuard[],
): Promise<boolean | BlockedCalls> {
  const isNew = guards.some(
    ({ name }) =>
      draft.guards?.some((record) => record.at === 'tools' && record.name === name) !== true,
  );
  const checked = draft.openCalls.flatMap((place) => {
    const call = draft.calls[place];
    if (!call || draft.problems?.[place] !== undefined || draft.softLanding !== null) return [];
    if (draft.counted === null && !isOffered(draft, call)) return [];
    const answer = run.answers.get(call.id);
    const edited = answer && 'args' in answer ? answer.args : undefined;
    // what an approver has changed was not checked before
    if (!isNew && edited === undefined) return [];
    return [{ place, callId: call.id, tool: call.name, args: edited ?? call.args }];
  });
  if (checked.length === 0) return true;
  const calls = checked.map(({ callId, tool, args }) => ({ callId, tool, args }));
  const tools = [...new Set(calls.map(({ tool }) => tool))].slice(0, MAX_TOOLS);
  try {
    await askGuards(run, draft, guards, { calls }, tools);
    return true;
  } catch (error) {
    if (!(error instanceof GuardBlocked)) {
      if (run.cancellation.cause) return false;
      throw error;
    }
    const text = `Not run: a guard stopped the run (${error.message}).`;
    const isChild = (callId: string): boolean => draft.children?.has(callId) === true;
    const places = checked.flatMap(({ place, callId }) => (isChild(callId) ? [] : [place]));
    return { places, text };
  } finally {
    draft.addGuardUsage();
    draft.isSaved = false;
  }
}

/** Most tools that a record names. */
const MAX_TOOLS = 10;
