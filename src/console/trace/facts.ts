import { own } from '../../json.ts';
import { isBlocked } from '../../agent/guard.ts';
import { answerText } from '../../trace/answer-text.ts';
import { compactionFacts } from '../../trace/compaction-facts.ts';
import { guardFacts } from '../../trace/guard-facts.ts';
import { modelCallFacts } from '../../trace/model-call-facts.ts';
import { steeringFacts } from '../../trace/steering-facts.ts';
import type { TraceStep } from '../../trace/trace.ts';
import { counted, durationText } from '../../number-text.ts';

/** A short fact about a step; `code` is a recorded name. */
export interface Fact {
  readonly text: string;
  readonly code?: string;
  readonly isBad?: boolean;
}

/** Returns the facts of a step that are shown before its checks. */
export function factsOf(step: TraceStep): readonly Fact[] {
  const facts: Fact[] = [];
  const tools = step.bars.filter(({ kind }) => kind === 'tool');
  const model = step.bars.find(({ kind }) => kind === 'model');
  if (step.type === 'error') {
    facts.push({ text: 'model call failed' });
    if (model?.error) facts.push({ text: shortened(model.error), isBad: true });
  } else if (step.type === 'cut' && !isBlocked(step))
    facts.push({ text: 'the model call was interrupted' });
  else if (step.finishReason !== null)
    facts.push({ text: 'finish_reason', code: step.finishReason });
  if (step.model !== undefined) facts.push({ text: 'model', code: step.model });
  if (step.fallback !== undefined) facts.push({ text: 'continued with', code: step.fallback });
  if (tools.length > 0) facts.push({ text: counted(tools.length, 'call') });
  for (const { name, state, error, approval } of tools)
    if (state === 'error' || state === 'timeout')
      facts.push({
        text: `${name}: ${state === 'timeout' ? 'timeout' : problemText(step, error)}`,
        isBad: true,
      });
    else if ((state === 'denied' && !approval) || state === 'blocked' || state === 'aborted')
      facts.push({ text: `${name}: ${state}` });
  for (const { name, approval } of tools)
    if (approval) facts.push({ text: `${name}: ${answerText(approval)}` });
  if (step.waitMs > 0) facts.push({ text: `waited ${durationText(step.waitMs)}` });
  if (step.softLanding !== null)
    facts.push({ text: 'last step reserved by', code: step.softLanding });
  return [
    ...facts,
    ...guardFacts(step),
    ...compactionFacts(step),
    ...steeringFacts(step),
    ...modelCallFacts(step),
    ...notesOf(step.notes),
  ];
}

/** Returns the text of an error; only "failed" if a criterion below quotes it. */
function problemText({ outcome }: TraceStep, error: string | null): string {
  const isQuoted = outcome?.evaluations.some(
    ({ facts }) => facts?.kind === 'error' && facts.message === error,
  );
  return error === null || isQuoted ? 'failed' : shortened(error);
}

/** Shortens a long text; the chat has the whole record. */
const shortened = (error: string): string =>
  error.length > longest ? `${error.slice(0, longest - 1).trimEnd()}…` : error;
const longest = 600;

const known: Readonly<Record<string, string>> = {
  argsEdited: 'arguments edited by the approver',
  toolsChanged: 'the list of tools changed',
  toolsMissing: 'tools of a server were missing',
  resultCut: 'a result was truncated',
  usageUnknown: 'usage unknown',
  contentLeakDropped: 'leaked tool syntax dropped from the text',
  looksLikeToolCall: 'the text looks like a tool call',
};

/** Returns the text of the record's notes; `name:call` is about one call. */
function notesOf(notes: readonly string[]): Fact[] {
  const names = new Set(notes.map((note) => note.split(':')[0] ?? note));
  names.delete('summaryFailed'); // a fact of its compaction
  return [...names].map((name) => {
    const text = own(known, name);
    return text === undefined ? { text: 'note', code: name } : { text };
  });
}
