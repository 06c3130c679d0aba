import { needsCounts } from '../continuation/retry-account.ts';
import { isRecord } from '../json.ts';
import type { AgentStateData } from './agent-state.ts';
import type { UnfinishedStep } from './agent-step.ts';

/** The highest version that this release reads. */
export const STATE_VERSION = 2;

/** The parts of a state that decide its version. */
export type VersionedState = Pick<AgentStateData, 'execution'> & {
  readonly unfinishedStep?:
    | (Pick<UnfinishedStep, 'results'> & { readonly inputs?: unknown })
    | null;
  readonly pause?: { readonly pendingInputs?: unknown } | null;
  readonly compactions?: readonly unknown[];
};

/**
 * The version of a state: 2 if release 0.1.0 would lose something. It has one count of failures, and knows no parts of
 * results, no questions and no compactions.
 */
export const versionOf = ({
  execution,
  unfinishedStep,
  pause,
  compactions = [],
}: VersionedState): 1 | 2 =>
  needsCounts(execution) ||
  hasParts(unfinishedStep) ||
  unfinishedStep?.inputs !== undefined ||
  pause?.pendingInputs !== undefined ||
  compactions.length > 0
    ? 2
    : 1;

/** Whether a result of the unfinished step has parts, which its message gets when the step ends. */
const hasParts = (unfinished: Pick<UnfinishedStep, 'results'> | null | undefined): boolean =>
  unfinished?.results.some(({ content }) => content !== undefined) === true;

type Migration = (document: Record<string, unknown>) => Record<string, unknown>;

/** Migrations from each version to the next. Pure, never edited once released, and tested for each version. */
export const stateMigrations: Readonly<Record<number, Migration>> = {
  /** Version 0 had no totals, and kept the start of the session at the top level. */
  0: (document) => {
    const { startedAt, ...rest } = document;
    const info = isRecord(document['info']) ? document['info'] : { startedAt };
    const execution = isRecord(document['execution']) ? document['execution'] : { id: '' };
    return { steps: [], ...rest, version: 1, info, execution };
  },
  /** Version 1 may have one count of failures, which is read by the type of the last step. */
  1: (document) => ({ ...document, version: 2 }),
};
