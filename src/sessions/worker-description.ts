import { isRecord } from '../json.ts';

/** What a worker says of itself. */
export interface WorkerDescription {
  /** Null outside of Node. */
  readonly host: string | null;
  readonly pid: number | null;
  readonly agents: readonly string[];
  /** By the clock of the worker. */
  readonly startedAt: string | null;
  /** How often it reports, in milliseconds. */
  readonly everyMs: number;
  /** Sessions that it worked on, or that waited for their place, when it reported. */
  readonly active: number;
  /** Whether it claims nothing more. */
  readonly isDraining: boolean;
}

/** The longest time between two reports of a worker; with shorter leases it is as long as a lease. */
export const REPORT_MS = 10_000;

const MOST_AGENTS = 1_000;
const MOST_CHARACTERS = 255;

/** Reads a report as far as it can be read: a worker of another release may have written it. */
export function describedWorker(body: string | null): WorkerDescription | null {
  const said = body === null ? null : parsed(body);
  if (!said) return null;
  const { host, pid, agents, startedAt, everyMs, active, isDraining } = said;
  return {
    host: shortText(host),
    pid: wholeNumber(pid),
    agents: Array.isArray(agents)
      ? agents.slice(0, MOST_AGENTS).flatMap((name) => shortText(name) ?? [])
      : [],
    startedAt: isTime(startedAt) ? startedAt : null,
    everyMs: Math.min(REPORT_MS, wholeNumber(everyMs) ?? REPORT_MS),
    active: wholeNumber(active) ?? 0,
    isDraining: isDraining === true,
  };
}

function parsed(body: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(body);
    return isRecord(value) ? value : null;
  } catch {
    return null;
  }
}

const shortText = (value: unknown): string | null =>
  typeof value === 'string' && value !== '' ? value.slice(0, MOST_CHARACTERS) : null;

const wholeNumber = (value: unknown): number | null =>
  Number.isSafeInteger(value) && Number(value) >= 0 ? Number(value) : null;

const isTime = (value: unknown): value is string =>
  typeof value === 'string' && /^\d{4}-\d\d-\d\dT[\d:.]{8,15}Z$/.test(value);
