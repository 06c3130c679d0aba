import { msOf } from '../clock.ts';
import type { Session } from '../sessions/session.ts';
import { workedBetween, type Gap, type RunLog } from './run-log.ts';
import type { TracePause, TraceStep } from './trace.ts';

/** Pauses without an approval: a process died, or handed over its work. */
const technicalPauses: ReadonlySet<string> = new Set(['crash', 'handover']);

/** Returns the gaps of the visible steps as marks on the axis. Pass `session` if its last gap may still last. */
export function tracePauses(
  log: RunLog,
  steps: readonly TraceStep[],
  session: Pick<Session, 'status' | 'pause'> | null,
): readonly TracePause[] {
  const pauses = shownGaps(log, steps, session).map(({ gap, step }): TracePause => {
    const { from, to, kind, reason } = gap;
    return {
      at: step ? positionIn(step, from, log) : 0,
      step: gap.step,
      durationMs: to === null ? null : to - from,
      kind,
      reason,
    };
  });
  const last = steps.at(-1);
  if (session?.status !== 'paused' || !session.pause || pauses.at(-1)?.durationMs === null)
    return pauses;
  // the log is gone
  const { kind, reason = null } = session.pause;
  const at = last ? last.at + last.durationMs : 0;
  return [...pauses, { at, step: last?.number ?? 0, durationMs: null, kind, reason }];
}

/** Returns how long the run waited for approvals or a resume. */
export function pausedMsOf(
  log: RunLog,
  steps: readonly TraceStep[],
  session: Pick<Session, 'status' | 'pause'> | null,
  now: number,
): number {
  let ms = 0;
  for (const { gap } of shownGaps(log, steps, session))
    if (!technicalPauses.has(gap.kind)) ms += Math.max(0, (gap.to ?? now) - gap.from);
  return ms;
}

function shownGaps(
  { gaps }: RunLog,
  steps: readonly TraceStep[],
  session: Pick<Session, 'status' | 'pause'> | null,
): readonly { readonly gap: Gap; readonly step: TraceStep | undefined }[] {
  return gaps.flatMap((gap) => {
    const step = steps.findLast(({ number }) => number === gap.step);
    // an end that was not reopened is not a pause
    if (gap.to === null && (gap.kind === 'grant' || session === null)) return [];
    return step || (gap.step === 0 && (steps[0]?.number ?? 1) === 1) ? [{ gap, step }] : [];
  });
}

function positionIn(
  { at, startedAt, durationMs }: TraceStep,
  time: number,
  { gaps }: RunLog,
): number {
  return at + Math.min(durationMs, workedBetween(gaps, msOf(startedAt), time));
}
