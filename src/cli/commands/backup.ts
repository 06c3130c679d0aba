import { resolve } from 'node:path';
import { AgentError } from '../../errors/agent-error.ts';
import type { SqliteStore } from '../../sessions/stores/sqlite/index.ts';
import { counted, durationText } from '../../number-text.ts';
import { bytesText } from '../bytes-text.ts';
import { withProject, type CliContext } from '../cli-context.ts';
import type { Project } from '../project.ts';
import { usageError } from '../usage-error.ts';

/** Copies the SQLite file of the sessions, also while other processes use it. */
export const backup = (
  context: CliContext,
  file: string,
  { force = false }: { readonly force?: boolean },
): Promise<number> =>
  withProject(context, async (project) => {
    const store = sqliteOf(project, 'backup', 'Use the tools of your database, such as pg_dump.');
    const start = performance.now();
    const to = resolve(context.io.cwd, file);
    const { bytes, sessions } = await store
      .backup(to, { overwrite: force })
      .catch((error: unknown) => {
        throw withForce(error, file);
      });
    if (context.isJson) context.printJson({ type: 'backup', path: to, sessions, bytes });
    else
      context.print(
        `Copied ${counted(sessions, 'session')} of ${project.storeLabel} to ${file}: ${bytesText(bytes)}, ` +
          `${durationText(performance.now() - start)}, readable only by you.`,
      );
    return 0;
  });

/** Rewrites the SQLite file: smaller, and without deleted data. */
export const vacuum = (context: CliContext): Promise<number> =>
  withProject(context, async (project) => {
    const store = sqliteOf(project, 'vacuum', 'PostgreSQL does this by itself (autovacuum).');
    const { bytesBefore, bytes } = await store.vacuum();
    if (context.isJson) context.printJson({ type: 'vacuum', bytesBefore, bytes });
    else
      context.print(
        `Rewrote ${project.storeLabel}: ${bytesText(bytes)}, before ${bytesText(bytesBefore)}.`,
      );
    return 0;
  });

function sqliteOf({ store }: Project, command: string, instead: string): SqliteStore {
  if ('backup' in store && 'vacuum' in store) return store as SqliteStore;
  throw usageError(
    `onward ${command} works with SQLite files, and the store is ${store.name}. ${instead}`,
  );
}

/** Adds the option of the command line to the error. */
function withForce(error: unknown, file: string): unknown {
  if (!AgentError.is(error) || error.details?.['reason'] !== 'exists') return error;
  return usageError(`${file} exists. Choose another file, or overwrite it with --force.`);
}
