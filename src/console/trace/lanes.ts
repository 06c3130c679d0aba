import { filesText } from '../../file-facts.ts';
import type { TraceBar, TraceStep } from '../../trace/trace.ts';
import type { Axis } from './axis.ts';
import { textWidth } from './text-width.ts';
import { durationText } from '../../number-text.ts';

export type PieceKind =
  | 'model'
  | 'tool'
  | 'agent'
  | 'failed'
  | 'running'
  | 'unused'
  | 'paused'
  | 'backoff'
  | 'queued';

/** `from` and `to` are shares of the width. */
export interface Piece {
  readonly kind: PieceKind;
  readonly from: number;
  readonly to: number;
}

export interface LabelPart {
  readonly text: string;
  readonly tone: 'name' | 'plain' | 'quiet' | 'failed' | 'waiting';
}

/** One line of a step's chart: the model, or one tool call. */
export interface Lane {
  readonly key: string;
  readonly pieces: readonly Piece[];
  /** Labels next to the bar, longest first; the last needs the least space. */
  readonly labels: readonly (readonly LabelPart[])[];
  /** The whole text, if the label shows less. */
  readonly title: string;
}

export const lanesOf = (step: TraceStep, axis: Axis): readonly Lane[] =>
  step.bars.map((bar, i) => laneOf(step, bar, i, axis));

function laneOf(step: TraceStep, bar: TraceBar, index: number, axis: Axis): Lane {
  const pieces: Piece[] = [];
  const paused = pauseOf(step, bar, axis);
  if (paused) pieces.push({ kind: 'paused', from: paused.left, to: paused.left + paused.width });
  const from = axis.place(bar.at, 'after');
  const queuedMs = index === 0 ? (step.modelCall?.queuedMs ?? 0) : 0;
  if (queuedMs > 0)
    pieces.push({
      kind: 'queued',
      from: axis.place(step.at, 'after'),
      to: axis.place(step.at + queuedMs, 'before'),
    });
  // a call that needs approval or an answer is drawn as the pause; a queued one as a mark where it will start
  if (bar.state !== 'waiting' || !paused)
    pieces.push({
      kind: pieceKindOf(bar),
      from,
      to: Math.max(from, axis.place(bar.at + bar.durationMs, 'before')),
    });
  const waitMs = index === 0 ? step.waitMs : 0;
  if (waitMs > 0) {
    const end = step.at + step.durationMs;
    pieces.push({
      kind: 'backoff',
      from: axis.place(end, 'after'),
      to: axis.place(end + waitMs, 'before'),
    });
  }
  const extra = extraOf(bar, waitMs, queuedMs);
  const label = labelOf(step, bar, waitMs > 0, problemWord(bar));
  return {
    key: bar.callId ?? `${bar.kind}:${index}`,
    pieces,
    labels: extra.length > 0 ? [[...label, ...extra], label] : [label],
    title: [...labelOf(step, bar, waitMs > 0, bar.error ?? problemWord(bar)), ...extra]
      .map(({ text }) => text)
      .join(' '),
  };
}

/** Pixels, more than the shortest label takes next to the name. */
const besideName = 110;

/** Returns the lanes whose bars may leave no space for a label; of thousands of steps these are few. */
export function crowdedLanes(
  steps: readonly TraceStep[],
  axis: Axis,
  chartWidth: number,
): readonly Lane[] {
  return steps.flatMap((step) =>
    step.bars.flatMap((bar, i) => {
      const from = axis.place(bar.at, 'before') * chartWidth;
      const to = axis.place(bar.at + bar.durationMs + step.waitMs, 'after') * chartWidth;
      const needed = textWidth(bar.name) + besideName;
      return Math.max(from, chartWidth - to) > needed ? [] : [laneOf(step, bar, i, axis)];
    }),
  );
}

/** Returns the break in which this call waited: the last one of its step that existed when it started. */
function pauseOf(step: TraceStep, bar: TraceBar, axis: Axis): Axis['breaks'][number] | undefined {
  if (bar.state !== 'waiting' && bar.pausedMs <= 0) return undefined;
  const own = axis.breaks.filter(({ pauses }) => pauses.some((p) => p.step === step.number));
  if (bar.state === 'waiting') return own.at(-1);
  return own.findLast(({ at }) => at <= bar.at) ?? own[0];
}

function pieceKindOf(bar: TraceBar): PieceKind {
  if (bar.state === 'running') return 'running';
  if (bar.state === 'waiting') return 'unused';
  if (bar.state === 'error' || bar.state === 'timeout') return 'failed';
  if (bar.state === 'ok' && bar.child) return 'agent';
  return bar.state === 'ok' ? bar.kind : bar.kind === 'model' ? 'failed' : 'unused';
}

/** Returns one word for an error; the inspector has all of it. A provider's status code is the best one. */
function problemWord({ kind, state, error }: TraceBar): string {
  if (state === 'timeout') return 'timeout';
  return (kind === 'model' && /^[45]\d\d\b/.exec(error ?? '')?.[0]) || 'failed';
}

function labelOf(step: TraceStep, bar: TraceBar, waited: boolean, problem: string): LabelPart[] {
  const failed = pieceKindOf(bar) === 'failed';
  if (waited && failed) return [{ text: problem, tone: 'failed' }];
  const label: LabelPart[] = [{ text: bar.name, tone: 'name' }];
  if (bar.state === 'waiting')
    return step.type === 'waiting'
      ? [...label, { text: bar.asks ? 'needs an answer' : 'needs approval', tone: 'waiting' }]
      : [...label, { text: 'queued', tone: 'quiet' }];
  label.push({ text: durationText(bar.durationMs), tone: 'quiet' });
  if (failed) label.push({ text: problem, tone: 'failed' });
  else if (bar.state !== 'ok' && bar.state !== 'running')
    label.push({ text: bar.state, tone: 'plain' });
  return label;
}

function extraOf(bar: TraceBar, waitMs: number, queuedMs: number): LabelPart[] {
  const parts: string[] = [];
  if (queuedMs > 0) parts.push(`after waiting ${durationText(queuedMs)} for the limiter`);
  if (waitMs > 0) parts.push(`then waited ${durationText(waitMs)}`);
  if (bar.retry)
    parts.push(
      `· retry ${bar.retry.number}${bar.retry.limit === null ? '' : `/${bar.retry.limit}`}`,
    );
  if (bar.answer === 'edited') parts.push('· edited');
  if (bar.pausedMs > 0 && bar.state !== 'waiting')
    parts.push(`· paused ${durationText(bar.pausedMs)}`);
  if (bar.files) parts.push(`· ${filesText(bar.files)}`);
  return parts.map((text) => ({ text, tone: 'plain' }));
}
