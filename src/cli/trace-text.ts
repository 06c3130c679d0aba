import { forbidOrder } from '../continuation/stop-reason.ts';
import type { ContinuationDecision } from '../continuation/decision.ts';
import type { ContinuationEvaluation } from '../continuation/evaluation.ts';
import { factsOf } from '../continuation/facts-of.ts';
import type { ContinuationOutcomeJSON } from '../continuation/outcome.ts';
import { filesText } from '../file-facts.ts';
import { answerText } from '../trace/answer-text.ts';
import { continuedBecause, type Trace, type TraceBar, type TraceStep } from '../trace/index.ts';
import { compactionText } from '../events/compaction-text.ts';
import { compactionFacts } from '../trace/compaction-facts.ts';
import { guardFacts } from '../trace/guard-facts.ts';
import { modelCallFacts, type ModelCallFact } from '../trace/model-call-facts.ts';
import { steeringFacts } from '../trace/steering-facts.ts';
import { counted, countText, durationText, exactMoneyText } from '../number-text.ts';
import { costText, oneLine } from './format.ts';
import type { Paint } from './paint.ts';
import { textTable } from './text-table.ts';
import { sentence } from '../sentence.ts';

/** Groups in order of precedence, with the console's shapes. */
const groups: readonly {
  readonly decision: ContinuationDecision;
  readonly glyph: string;
  readonly name: string;
  readonly style: 'red' | 'blue' | 'yellow' | 'dim';
}[] = [
  { decision: 'forbid', glyph: '■', name: 'forbid', style: 'red' },
  { decision: 'request', glyph: '▲', name: 'request', style: 'blue' },
  { decision: 'stop', glyph: '◧', name: 'allow stop', style: 'yellow' },
  { decision: 'allow', glyph: '○', name: 'allow', style: 'dim' },
];

const columns = [
  { title: 'STEP', align: 'right' },
  { title: 'TIME', align: 'right' },
  { title: 'WORK' },
  { title: 'TOKENS', align: 'right' },
  { title: 'COST', align: 'right' },
  { title: 'OUTCOME' },
] as const;

/** Formats every step in a line: duration, work, cost, the decision and the deciding criterion. */
export function stepTable({ steps }: Trace, paint: Paint): string[] {
  const hasCost = steps.some(({ cost }) => cost !== null && cost > 0);
  const shown = columns.filter(({ title }) => hasCost || title !== 'COST');
  const rows = steps.map((step) => {
    const cells: Record<string, string> = {
      STEP: `${step.number}${step.attempt > 1 ? ` (attempt ${step.attempt})` : ''}`,
      TIME: durationText(step.durationMs),
      WORK: workText(step),
      TOKENS: countText(step.inputTokens + step.outputTokens),
      COST: costText(step.cost),
      OUTCOME: outcomeText(step),
    };
    return shown.map(({ title }) => cells[title] ?? '');
  });
  return textTable(shown, rows, paint, (text, column, row) => {
    if (shown[column]?.title !== 'OUTCOME') return text;
    const style = styleOf(steps[row]?.outcome ?? null);
    return style === null ? paint('dim', text) : paint(style, text);
  });
}

const styleOf = (outcome: ContinuationOutcomeJSON | null) =>
  groups.find(({ decision }) => decision === outcome?.decision)?.style ?? null;

function workText(step: TraceStep): string {
  const { type, bars, waitMs, softLanding, modelCall } = step;
  const queuedMs = modelCall?.queuedMs ?? 0;
  const queued = queuedMs > 0 ? `waited ${durationText(queuedMs)} for the limiter, then ` : '';
  const tools = timesEach(bars.filter(({ kind }) => kind === 'tool').map(barText));
  const model = bars.find(({ kind }) => kind === 'model');
  const said = tools.length > 0 ? tools.join(', ') : (blockedText(step) ?? modelText(type, model));
  const wait = waitMs > 0 ? `, then waited ${durationText(waitMs)}` : '';
  return `${queued}${oneLine(said, 90)}${wait}${softLanding === null ? '' : ' (soft landing)'}`;
}

/** Formats `update_lead ×3`. */
function timesEach(texts: readonly string[]): string[] {
  const times = new Map<string, number>();
  for (const text of texts) times.set(text, (times.get(text) ?? 0) + 1);
  return Array.from(times, ([text, n]) => (n === 1 ? text : `${text} ×${n}`));
}

const barText = ({ name, state, retry, answer, files }: TraceBar): string =>
  [
    name,
    state === 'ok' ? '' : ` ${state}`,
    retry ? ` (retry ${retry.number}${retry.limit === null ? '' : `/${retry.limit}`})` : '',
    answer === null ? '' : ` (${answer})`,
    files === undefined ? '' : ` (${filesText(files)})`,
  ].join('');

/** Returns which guard blocked the step; null if none did. */
function blockedText({ guards }: TraceStep): string | null {
  const record = guards?.find(({ decision }) => decision === 'blocked');
  return record ? `blocked by guard ${record.name}` : null;
}

function modelText(type: TraceStep['type'], model: TraceBar | undefined): string {
  if (model?.error) return `model call failed: ${model.error}`;
  if (type === 'running' || type === 'waiting') return type;
  return type === 'cut' ? 'interrupted' : 'model answered';
}

function outcomeText({ outcome, type }: TraceStep): string {
  if (!outcome) return type === 'waiting' ? 'paused, no outcome yet' : 'no outcome yet';
  const { shouldContinue, stopReason, resolvedBy } = outcome;
  return `${shouldContinue ? 'continue' : `stop: ${stopReason ?? 'completed'}`} · ${resolvedBy}`;
}

/** Formats every evaluation of an outcome in order of precedence, with its numbers; the deciding one is marked. */
export function evaluationLines(outcome: ContinuationOutcomeJSON, paint: Paint): string[] {
  const width = Math.max(...outcome.evaluations.map(({ criterion }) => criterion.length), 0);
  const lines: string[] = [];
  let isOutranked = false;
  for (const { decision, glyph, name, style } of groups) {
    const evaluations = outcome.evaluations
      .filter((evaluation) => evaluation.decision === decision)
      .toSorted(byRank);
    // an empty forbid group is part of the reason; outranked groups are not
    if (evaluations.length === 0 && !isOutranked)
      lines.push(paint('dim', `  ${glyph} ${name}: none`));
    for (const evaluation of evaluations) {
      const isDecisive = !isOutranked && evaluation.criterion === outcome.resolvedBy;
      const mark = isDecisive ? paint('bold', '→') : ' ';
      const label = `${glyph} ${name.padEnd(10)}`;
      const said = `${evaluation.criterion.padEnd(width)}  ${oneLine(evaluation.reason, 200)}${meterText(evaluation)}`;
      lines.push(`${mark} ${paint(style, label)}  ${isDecisive ? paint('bold', said) : said}`);
    }
    if (outcome.decision === decision) isOutranked = true;
  }
  return lines;
}

const rankOf = ({ stopReason }: ContinuationEvaluation): number =>
  forbidOrder.indexOf(stopReason ?? 'guard');
const byRank = (a: ContinuationEvaluation, b: ContinuationEvaluation): number =>
  a.decision === 'forbid' ? rankOf(a) - rankOf(b) : 0;

/** Returns used and limit of a custom criterion: a built-in limit has them in its reason. */
function meterText(evaluation: ContinuationEvaluation): string {
  const { used, limit } = evaluation.context;
  if (typeof used !== 'number' || typeof limit !== 'number') return '';
  return factsOf(evaluation).kind === 'limit' ? '' : ` (${countText(used)} of ${countText(limit)})`;
}

/** Returns "Continued because …" of a step that led to another. */
export const continuedLine = (outcome: ContinuationOutcomeJSON): string | null => {
  const text = continuedBecause(outcome);
  return text === null ? null : sentence(oneLine(text, 1_000));
};

/** Returns who answered which call: `Step 2: pay approved by ann on 2026-11-17 at 19:05 UTC.` */
export const answerLines = ({ steps }: Trace): string[] =>
  steps.flatMap(({ number, bars }) =>
    bars.flatMap(({ name, approval }) =>
      approval ? [`Step ${number}: ${oneLine(`${name} ${answerText(approval)}`, 300)}.`] : [],
    ),
  );

/** Returns what was left out before which step: `Step 7: earlier messages summarized: 182 messages, 96k → 48k tokens.` */
export const compactionLines = ({ steps }: Trace): string[] =>
  steps.flatMap(({ number, compactions = [] }) =>
    compactions.map((compaction) => `Step ${number}: ${compactionText(compaction)}.`),
  );

/** Returns what the provider reported about the model call of a step; null if it reported nothing. */
export function modelCallLine(step: TraceStep): string | null {
  return factLine('Model call', modelCallFacts(step));
}

/** Returns what guards decided in the step; null without guards. */
export const guardLine = (step: TraceStep): string | null => factLine('Guards', guardFacts(step));

/** Returns what the step sent that differs from the definition of the agent; null if nothing does. */
export const steeringLine = (step: TraceStep): string | null =>
  factLine('Steered', steeringFacts(step));

/** Returns what was left out before the model call; null if nothing was. */
export const compactionLine = (step: TraceStep): string | null =>
  factLine('Compacted', compactionFacts(step));

function factLine(title: string, given: readonly ModelCallFact[]): string | null {
  const facts = given.map(({ text, code }) =>
    oneLine(code === undefined ? text : `${text} ${code}`, 300),
  );
  return facts.length === 0 ? null : `${title}: ${facts.join(' · ')}`;
}

/** Returns how time and budget were spent. */
export function totalsLine({ totals }: Trace): string {
  const of = (used: string, limit: string | null): string =>
    limit === null ? used : `${used} of ${limit}`;
  const { steps, seconds, tokens, cost } = totals;
  const limitOf = (limit: number | null, show: (value: number) => string): string | null =>
    limit === null ? null : show(limit);
  const facts = [
    `${of(countText(steps.used), limitOf(steps.limit, countText))} steps`,
    `${of(
      durationText(seconds.used * 1_000),
      limitOf(seconds.limit, (s) => durationText(s * 1_000)),
    )} worked`,
    `${of(countText(tokens.used), limitOf(tokens.limit, countText))} tokens`,
    cost.used === null ? '' : of(costText(cost.used), limitOf(cost.limit, exactMoneyText)),
  ];
  const beside = [
    `model ${durationText(totals.modelMs)}`,
    `tools ${durationText(totals.toolMs)}`,
    totals.backoffMs > 0 ? `backoff ${durationText(totals.backoffMs)}` : '',
    totals.queuedMs ? `waited for the limiter ${durationText(totals.queuedMs)}` : '',
    totals.pausedMs > 0 ? `paused ${durationText(totals.pausedMs)}, not counted` : '',
    totals.failedCalls > 0
      ? `${counted(totals.failedCalls, 'failed call')}, not counted as steps`
      : '',
  ];
  return `${facts.filter(Boolean).join(' · ')}  (${beside.filter(Boolean).join(', ')})`;
}
