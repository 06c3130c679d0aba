import { needsCounts } from '../continuation/retry-account.ts';
import { isRecord } from '../json.ts';
import type { Execution } from './execution.ts';

/** The highest version that this release reads. */
export const STATE_VERSION = 2;

/** The version of a state: 2 if release 0.1.0, which has one count of failures, would lose some of them. */
export const versionOf = (execution: Execution): 1 | 2 => (needsCounts(execution) ? 2 : 1);

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
