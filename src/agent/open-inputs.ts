import type { PendingInput } from '../events/agent-event.ts';
import type { ToolCall } from '../messages/tool-call.ts';
import type {
  GivenInput,
  InputAnswer,
  InputRequired,
  KeyedQuestion,
} from '../tools/input-request.ts';
import type { ApprovalRecord } from '../tools/tool-result.ts';
import type { AgentStateJSON } from './agent-state.ts';
import type { Run } from './run.ts';
import type { StepDraft } from './step-draft.ts';

/** An answer of the user, with who gave it and when. */
export interface InputRecord {
  readonly inputId: string;
  readonly key: string;
  readonly answer: InputAnswer;
  readonly by: string | null;
  readonly at: string;
}

/** A call that asked for input: its questions of the current round, and all answers so far. */
export interface OpenInput {
  readonly callId: string;
  /** Number of times that the call has asked. */
  readonly round: number;
  readonly questions: readonly KeyedQuestion[];
  readonly state: string | null;
  readonly answers: readonly InputRecord[];
  /** Whether the call has begun to run again with the answers. */
  readonly isRunning: boolean;
  /** Who approved the call before it asked. */
  readonly approval?: ApprovalRecord;
}

/** Answers by input id, such as `call_1/confirm`. */
export type Inputs = Readonly<Record<string, InputAnswer>>;

/** An answer with who gave it and when, as a session stores it. */
export type InputGiven = Pick<InputRecord, 'answer' | 'by' | 'at'> & {
  /** Trace context of the process that took the answer; absent without one. */
  readonly traceparent?: string;
};
export type InputsGiven = ReadonlyMap<string, InputGiven>;

export const noInputs: InputsGiven = new Map();

/** Most answers of earlier rounds that a call keeps. */
const MAX_RECORDS = 64;

/** Returns the id of a question: a later round gets ids of its own, because each id is answered once. */
const inputId = ({ callId, round }: OpenInput, { key }: KeyedQuestion): string =>
  round === 1 ? `${callId}/${key}` : `${callId}/${key}~${round}`;

/** Keeps a call open that asked for input. */
export function openInput(
  draft: StepDraft,
  { id: callId }: ToolCall,
  { questions, state }: InputRequired,
  approval: ApprovalRecord | null,
): void {
  const before = draft.inputs?.get(callId);
  (draft.inputs ??= new Map()).set(callId, {
    callId,
    round: (before?.round ?? 0) + 1,
    questions,
    state,
    answers: before?.answers ?? [],
    isRunning: false,
    ...(approval ? { approval } : before?.approval && { approval: before.approval }),
  });
  draft.isSaved = false;
}

/** Records the answers that have arrived for a call: their ids, and whether all its questions are answered now. */
export function takeInputs(
  run: Run,
  draft: StepDraft,
  open: OpenInput,
): { readonly taken: readonly string[]; readonly isComplete: boolean } {
  const known = new Set(open.answers.map((record) => record.inputId));
  const taken = open.questions.flatMap((question): readonly InputRecord[] => {
    const id = inputId(open, question);
    const given = known.has(id) ? undefined : run.inputs.get(id);
    if (!given) return [];
    const { answer, by, at } = given;
    return [{ inputId: id, key: question.key, answer, by, at }];
  });
  if (taken.length > 0) {
    const answers = [...open.answers, ...taken].slice(-MAX_RECORDS);
    draft.inputs?.set(open.callId, { ...open, answers });
    draft.isSaved = false;
  }
  for (const { inputId: id } of taken) known.add(id);
  return {
    taken: taken.map((record) => record.inputId),
    isComplete: open.questions.every((question) => known.has(inputId(open, question))),
  };
}

/** Whether all questions of a call have an answer, recorded or just given. */
export function isComplete({ inputs }: Run, open: OpenInput): boolean {
  const known = new Set(open.answers.map((record) => record.inputId));
  return open.questions.every((question) => {
    const id = inputId(open, question);
    return known.has(id) || inputs.has(id);
  });
}

/** Marks the call as running again, and returns what `execute` gets. */
export function resumeInput(draft: StepDraft, callId: string): GivenInput | null {
  const open = draft.inputs?.get(callId);
  if (!open) return null;
  if (!open.isRunning) {
    draft.inputs?.set(callId, { ...open, isRunning: true });
    draft.isSaved = false;
  }
  const answers: Record<string, InputAnswer> = Object.create(null) as Record<string, InputAnswer>;
  for (const { key, answer } of open.answers) answers[key] = answer;
  return { answers: Object.freeze(answers), state: open.state };
}

/** Lists what a step keeps of its open calls that asked. */
export const openInputsIn = (
  { openCalls, calls }: Pick<StepDraft, 'openCalls' | 'calls'>,
  inputs: ReadonlyMap<string, OpenInput>,
): readonly OpenInput[] => openCalls.flatMap((place) => inputs.get(calls[place]?.id ?? '') ?? []);

/** Whether the call waits for answers, so that it is not running although it was started. */
export const awaitsInput = ({ inputs }: Pick<StepDraft, 'inputs'>, callId: string): boolean =>
  inputs?.get(callId)?.isRunning === false;

/** Lists the questions of a call without an answer. */
export function unansweredIn(
  open: OpenInput,
): readonly (KeyedQuestion & { readonly inputId: string })[] {
  if (open.isRunning) return [];
  const known = new Set(open.answers.map((record) => record.inputId));
  return open.questions.flatMap((question) => {
    const id = inputId(open, question);
    return known.has(id) ? [] : [{ ...question, inputId: id }];
  });
}

/** Lists the questions of a step that wait, those of nested agents included. */
export function pendingInputsOf(
  { openCalls, calls, children, inputs }: StepDraft,
  executionId: string,
): readonly PendingInput[] {
  if (!inputs && !children) return [];
  return openCalls.flatMap((place) => {
    const { id, name } = calls[place] as ToolCall; // a valid index
    const open = inputs?.get(id);
    if (open)
      return unansweredIn(open).map((question) => ({
        ...question,
        callId: id,
        tool: name,
        executionId,
        path: [],
      }));
    const inner = children?.get(id)?.pendingInputs ?? [];
    return inner.map((one) => ({ ...one, path: [id, ...one.path] }));
  });
}

/** Lists the questions that wait in a state, also while its agent still works on other calls. */
export const pendingInputsIn = (
  { unfinishedStep, execution }: Pick<AgentStateJSON, 'unfinishedStep' | 'execution'>,
  path: readonly string[] = [],
): readonly PendingInput[] => {
  const { toolCalls = [], results = [], inputs = [], children = {} } = unfinishedStep ?? {};
  const isOpen = (callId: string): boolean => !results.some((result) => result.callId === callId);
  return [
    ...inputs.flatMap((open) => {
      const call = toolCalls.find(({ id }) => id === open.callId);
      if (!call || !isOpen(call.id)) return [];
      const common = { callId: call.id, tool: call.name, executionId: execution.id, path };
      return unansweredIn(open).map((question) => ({ ...question, ...common }));
    }),
    ...Object.entries(children).flatMap(([id, child]) =>
      isOpen(id) ? pendingInputsIn(child, [...path, id]) : [],
    ),
  ];
};
