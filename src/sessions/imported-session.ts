import { AgentError, show } from '../errors/agent-error.ts';
import type { SessionRow } from './session-rows.ts';
import type { StateHeader } from './state-rows.ts';

/**
 * `requires` of a session that was imported. Higher than any format, so that no worker of this or an earlier release
 * claims the session, and no release changes it.
 */
export const IMPORTED_REQUIRES = 1_000_000;

/** Where an imported session comes from. It can be read and deleted; nothing else changes it. */
export interface SessionImport {
  /** Id of the session that was exported. */
  readonly sessionId: string;
  readonly exportedAt: string;
  readonly importedAt: string;
  /** Whether secrets were replaced before. */
  readonly isRedacted: boolean;
}

/** What the header of an imported session says about its source. */
export interface ImportNote extends SessionImport {
  /** How the work on the session stood when it was exported; the row itself is idle. */
  readonly row: Pick<
    SessionRow,
    'status' | 'phase' | 'tries' | 'error' | 'parkedAt' | 'closeReason'
  >;
}

export const isImported = ({ requires }: SessionRow): boolean => requires === IMPORTED_REQUIRES;

/** Returns the row to show: that of an imported session is as it was exported. */
export const shownRow = (row: SessionRow, { imported }: StateHeader): SessionRow =>
  imported && isImported(row) ? { ...row, ...imported.row } : row;

/** Error for everything that would change an imported session. */
export const readOnlySession = ({ id }: SessionRow): AgentError =>
  new AgentError(
    'read_only',
    `Session ${show(id)} was imported and is read-only: it can be read and deleted. ` +
      'Work on the session that it was exported from, or create a new one.',
    { details: { sessionId: id } },
  );
