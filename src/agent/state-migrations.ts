import { isRecord } from '../json.ts';

/** The version that `toJSON` writes. */
export const STATE_VERSION = 1;

type Migration = (document: Record<string, unknown>) => Record<string, unknown>;

/** From each version to the next. Pure, never edited once released; a frozen document of each version is tested. */
export const stateMigrations: Readonly<Record<number, Migration>> = {
  /** The first draft of the format had no accounts, and kept the session's start at the top. */
  0: (document) => {
    const { startedAt, ...rest } = document;
    const info = isRecord(document['info']) ? document['info'] : { startedAt };
    const execution = isRecord(document['execution']) ? document['execution'] : { id: '' };
    return { steps: [], ...rest, version: 1, info, execution };
  },
};
