import type { AgentEvent } from '../events/agent-event.ts';
import type { NumberedEvent } from '../sessions/event-log.ts';
import type { OwnerOptions } from '../sessions/session-options.ts';
import type { SessionRuntime } from '../sessions/session-runtime.ts';

const PAGE = 500;
/**
 * Maximum pages: a nested agent may emit more events than all others, and steps beyond this are drawn without the
 * log.
 */
const MAX_PAGES = 8;
const MAX_PROBES = 24;
/** Events that a probe reads: enough to find one that has a step number. */
const PROBE = 12;
/** Number of events below which reading is cheaper than another probe. */
const NEAR = 150;

export interface LogRange extends OwnerOptions {
  readonly executionId: string;
  readonly firstStep: number;
  /** Last step; null means to the end. */
  readonly lastStep: number | null;
  readonly stepCount: number;
  /** Whether this is the current or last execution: the length of its log is known. */
  readonly isNewest: boolean;
  /** Most pages to read. Default 8. */
  readonly maxPages?: number;
}

/** Reads the part of an execution's log with these steps. Step numbers only increase in a log. */
export async function readLog(
  runtime: SessionRuntime,
  sessionId: string,
  range: LogRange,
): Promise<readonly NumberedEvent[]> {
  const { owner, executionId, lastStep, maxPages = MAX_PAGES } = range;
  const read = (after: number, limit: number) =>
    runtime.events(sessionId, { owner, executionId, after, limit });
  const found: NumberedEvent[] = [];
  let after = range.firstStep > 1 ? await positionOf(read, range) : 0;
  for (let page = 0; page < maxPages; page++) {
    const { events, seq } = await read(after, PAGE);
    const last = events.at(-1);
    if (!last) break;
    found.push(...events);
    after = last.seq;
    if (after >= seq && events.length < PAGE) break;
    if (lastStep !== null && (newestStep(events) ?? 0) > lastStep) break;
  }
  return found;
}

type Read = (
  after: number,
  limit: number,
) => Promise<{ readonly events: readonly NumberedEvent[]; readonly seq: number }>;

/** Finds a position shortly before the first step: estimated by its share, then narrowed down. */
async function positionOf(read: Read, range: LogRange): Promise<number> {
  const { firstStep, stepCount, isNewest } = range;
  let low = { after: 0, step: 0 };
  let high: { readonly after: number; readonly step: number } | null = null;
  if (isNewest) high = { after: (await read(0, 1)).seq, step: stepCount + 1 };
  for (let probe = 0; probe < MAX_PROBES; probe++) {
    if (high && high.after - low.after <= NEAR) break;
    const guess = high ? between(low, high, firstStep, probe) : Math.max(512, low.after * 2);
    const { events } = await read(guess, PROBE);
    const step = events.length === 0 ? Number.POSITIVE_INFINITY : oldestStep(events);
    // only events of nested agents: read from the known position
    if (step === null) break;
    if (step < firstStep) {
      low = { after: guess, step };
      if (firstStep - step <= 2) break;
    } else high = { after: guess, step: Math.min(step, stepCount + 1) };
  }
  return low.after;
}

/** Estimates a position by share, slightly early. Every third probe takes the middle, so that the search ends. */
function between(
  low: { readonly after: number; readonly step: number },
  high: { readonly after: number; readonly step: number },
  step: number,
  probe: number,
): number {
  const width = high.after - low.after;
  const share = probe % 3 === 2 ? 0.5 : (step - 1 - low.step) / Math.max(1, high.step - low.step);
  const guess = low.after + Math.floor(width * share) - (probe % 3 === 2 ? 0 : PROBE);
  return Math.min(high.after - 1, Math.max(low.after + 1, guess));
}

function oldestStep(events: readonly NumberedEvent[]): number | null {
  for (const { event } of events) {
    const step = stepIn(event);
    if (step !== null) return step;
  }
  return null;
}

const newestStep = (events: readonly NumberedEvent[]): number | null =>
  oldestStep(events.toReversed());

/** Returns the step that an event of the root agent belongs to or follows. */
function stepIn(event: AgentEvent): number | null {
  if (event.parentAgentId !== null) return null;
  if ('stepNumber' in event) return event.stepNumber;
  return 'stepCount' in event ? event.stepCount : null;
}
