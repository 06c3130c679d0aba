import type { ContinuationOutcome } from '../../continuation/outcome.ts';
import { counted, countText, durationText, exactMoneyText, moneyText } from '../../number-text.ts';
import { namedPolicies, type PolicyName } from '../../replay/named-policies.ts';
import type { ReplayedStep, ReplaySavings } from '../../replay/replay.ts';
import type { ReplayLimits } from '../../replay/replay-options.ts';
import { replaySession, type SessionReplay } from '../../replay/replay-session.ts';
import { listText } from '../../sentence.ts';
import { withProject, type CliContext } from '../cli-context.ts';
import { findSession } from '../find-session.ts';
import { oneLine, shortId } from '../format.ts';
import { textTable } from '../text-table.ts';

export interface ReplayCommandOptions {
  readonly maxSteps?: number;
  readonly maxTokens?: number;
  readonly maxCost?: number;
  readonly seconds?: number;
  readonly errorPolicy?: PolicyName;
  readonly execution?: string;
}

/** Judges a recorded run again, and prints what would change. Calls no model. */
export const replay = (
  context: CliContext,
  said: string,
  { errorPolicy, execution, maxSteps, maxTokens, maxCost, seconds }: ReplayCommandOptions,
): Promise<number> =>
  withProject(context, async ({ runtime, owner, ...project }) => {
    const session = await findSession({ runtime, owner, ...project }, said);
    const limits: ReplayLimits = {
      ...(maxSteps !== undefined && { maxSteps }),
      ...(maxTokens !== undefined && { maxTokens }),
      ...(maxCost !== undefined && { maxCost }),
      ...(seconds !== undefined && { seconds }),
    };
    const result = await replaySession(runtime, session.id, {
      owner,
      ...(Object.keys(limits).length > 0 && { limits }),
      ...(errorPolicy && { errorPolicy: namedPolicies[errorPolicy]() }),
      ...(execution !== undefined && { executionId: execution }),
    });
    if (context.isJson) {
      context.printJson({ ...result });
      return 0;
    }
    printReplay(context, result, { ...limits, errorPolicy });
    return 0;
  });

function printReplay(
  { print, paint }: CliContext,
  result: SessionReplay,
  { errorPolicy, ...changed }: ReplayLimits & { readonly errorPolicy?: PolicyName | undefined },
): void {
  const { title, sessionId, agent, status, recordedLimits, steps, incomplete } = result;
  const where = `session ${shortId(sessionId)} · ${agent} · ${status}`;
  print(`${paint('bold', oneLine(title ?? '(no message yet)', 70))}  ${paint('dim', where)}`);
  const policy = errorPolicy === undefined ? [] : [`the error policy ${errorPolicy}`];
  const now = listText([...limitTexts(changed), ...policy]);
  print(
    paint(
      'dim',
      `Recorded with ${listText(limitTexts(recordedLimits)) || 'no limits'}. ${now === '' ? 'Judged again as recorded.' : `Judged with ${now}.`}`,
    ),
  );
  print();
  const columns = [
    { title: 'STEP', align: 'right' as const },
    { title: 'RECORDED' },
    { title: 'REPLAYED' },
  ];
  const rows = steps.map((step) => [
    String(step.number),
    outcomeText(step.recorded),
    replayedText(step, result),
  ]);
  for (const line of textTable(columns, rows, paint)) print(line);
  print();
  print(paint('bold', changeText(result)));
  const saved = savedText(result.saved);
  if (saved !== null) print(`Saved: ${saved}.`);
  for (const { text } of incomplete) print(paint('yellow', `Not exact: ${text}`));
}

const limitTexts = ({ maxSteps, maxTokens, maxCost, seconds }: ReplayLimits): string[] => [
  ...(maxSteps ? [counted(maxSteps, 'step')] : []),
  ...(maxTokens ? [`${countText(maxTokens)} tokens`] : []),
  ...(maxCost ? [exactMoneyText(maxCost)] : []),
  ...(seconds ? [counted(seconds, 'second')] : []),
];

function outcomeText(outcome: ContinuationOutcome | null): string {
  if (outcome === null) return '-';
  const { shouldContinue, stopReason, resolvedBy } = outcome;
  return shouldContinue ? `continue · ${resolvedBy}` : `stop: ${stopReason} · ${resolvedBy}`;
}

function replayedText({ number, replayed }: ReplayedStep, result: SessionReplay): string {
  const { firstDifference, difference } = result;
  if (firstDifference === null || number < firstDifference) return 'same';
  if (number > firstDifference) return result.stopsAt === null ? 'unknown' : 'not run';
  const how = difference === 'decision' || difference === null ? '' : ` (${hows[difference]})`;
  return `${replayed === null ? 'continue, unknown how' : outcomeText(replayed)}${how}`;
}

const hows = {
  soft_landing: 'another last step',
  interrupted: 'interrupted by the time limit',
  fallback: 'another model',
} as const;

/** Says in one sentence what would change. */
function changeText({ change, stopsAt, firstDifference, steps }: SessionReplay): string {
  const all = steps.at(-1)?.number ?? 0;
  switch (change) {
    case 'same':
      return stopsAt === null ? 'Same decisions.' : `Same decisions: stops after step ${stopsAt}.`;
    case 'earlier':
      return `Would stop after step ${stopsAt} of ${all}.`;
    case 'cut_short':
      return `Would stop after step ${stopsAt} of ${all}. The run finished, so its answer would be lost.`;
    case 'further':
      return `Would continue after step ${firstDifference}. What follows is not recorded.`;
    case 'other':
      return `Would decide step ${firstDifference} for another reason.`;
  }
}

function savedText({ steps, tokens, cost, seconds }: ReplaySavings): string | null {
  if (steps === 0) return null;
  const money = cost === null ? 'unknown cost' : moneyText(cost);
  return `${counted(steps, 'step')}, ${countText(tokens)} tokens, ${money}, ${durationText(seconds * 1000)}`;
}
