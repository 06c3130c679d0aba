import { isoTime } from '../clock.ts';
import { AgentError } from '../errors/agent-error.ts';
import { uuid } from '../ids.ts';
import { checkedOwner, checkedSessionId } from '../sessions/check-names.ts';
import { feedsOf } from '../sessions/feed/feeds-of.ts';
import { IMPORTED_REQUIRES, type ImportNote } from '../sessions/imported-session.ts';
import { plainBody } from '../sessions/row-writer.ts';
import { changedMeanwhile, idTaken } from '../sessions/session-errors.ts';
import type { AnySessionRuntime } from '../sessions/session-handle.ts';
import type { SessionLookup } from '../sessions/session-lookup.ts';
import type { Session } from '../sessions/session.ts';
import type { StateHeader } from '../sessions/state-rows.ts';
import { notAnExport } from './check-export.ts';
import { ImportWriter } from './import-writer.ts';
import { readExport, type ExportLimits, type ExportSource } from './read-export.ts';
import type { ExportHeader } from './session-export.ts';

export interface ImportOptions extends ExportLimits {
  /** The owner of the imported session. It need not be that of the exported one. */
  readonly owner: string;
  /** Id of the imported session; made up if left out. */
  readonly id?: string;
}

/** How long the import may take, in milliseconds. No worker can claim the session meanwhile. */
const LEASE_MS = 3_600_000;
const MOST_TITLE = 200;

/**
 * Imports an export as a read-only session: it can be read in full and deleted, and everything that would change or
 * continue it throws `read_only`. Checks each line, and leaves nothing behind if one is not valid.
 */
export async function importSession(
  runtime: AnySessionRuntime,
  source: ExportSource,
  options: ImportOptions,
): Promise<Session> {
  const owner = checkedOwner(options.owner);
  const id = options.id === undefined ? uuid() : checkedSessionId(options.id);
  const { lookup } = feedsOf(runtime);
  const records = readExport(source, options);
  const first = await records.next();
  const header = first.done ? null : first.value.record;
  if (header?.type !== 'session') throw notAnExport(1, 'the file is empty', 'a header');
  const writer = await opened(lookup, header, { id, owner });
  try {
    for await (const read of records) await writer.take(read);
    await writer.finish();
    return await runtime.get(id, { owner });
  } catch (error) {
    await lookup.store.delete(id);
    throw error;
  }
}

/** Creates the session and takes its lease, so that only this import writes to it. */
async function opened(
  lookup: SessionLookup,
  header: ExportHeader,
  { id, owner }: { readonly id: string; readonly owner: string },
): Promise<ImportWriter> {
  const { store, clock } = lookup;
  const { session, state } = header;
  const at = isoTime(clock.now());
  const head = headOf(header, at);
  const executionId = session.executionId ?? '';
  const isNew = await store.create({
    id,
    owner,
    agent: session.agent,
    createdAt: session.createdAt,
    status: state.status,
    executionId: session.executionId,
    head: await plainBody(store, head),
    messageCount: 0,
    stepCount: 0,
    requires: IMPORTED_REQUIRES,
  });
  if (!isNew) throw idTaken(id);
  try {
    await store.accept(
      id,
      { kind: 'resume', executionId, body: '{}', at, requires: IMPORTED_REQUIRES },
      { phases: ['idle'] },
    );
    const command = await store.nextCommand(id);
    const lease = { worker: `import-${uuid()}`, ttlMs: LEASE_MS, reads: IMPORTED_REQUIRES };
    const row = await store.claim(id, lease);
    if (!row || !command) throw changedMeanwhile(id);
    return new ImportWriter(store, { row, header, head, at, done: command.number });
  } catch (error) {
    await store.delete(id);
    throw error;
  }
}

function headOf(header: ExportHeader, importedAt: string): StateHeader {
  const { session, state, exportedAt, isRedacted, forkedFrom } = header;
  const { id, status, phase, tries, error, parkedAt, closeReason, title } = session;
  if (state.unfinishedStep && Object.keys(state.unfinishedStep.children ?? {}).length > 0)
    throw new AgentError(
      'invalid_option',
      'The export cannot be imported: its unfinished step has children, expected them as records of their own.',
      { details: { option: 'export' } },
    );
  const row = { status, phase, tries, error, parkedAt, closeReason };
  const imported: ImportNote = { sessionId: id, exportedAt, importedAt, isRedacted, row };
  return {
    version: 1,
    salt: uuid(),
    definition: null,
    ...(title !== null && { title: title.slice(0, MOST_TITLE) }),
    ...(forkedFrom !== undefined && { forkedFrom }),
    imported,
    state,
  };
}
