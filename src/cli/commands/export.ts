import { open, rm, type FileHandle } from 'node:fs/promises';
import { resolve } from 'node:path';
import { exportLine, exportSession } from '../../exports/index.ts';
import { counted } from '../../number-text.ts';
import { bytesText } from '../bytes-text.ts';
import { withProject, type CliContext } from '../cli-context.ts';
import { findSession } from '../find-session.ts';
import { shortId } from '../format.ts';
import { jsonLine } from '../json-line.ts';
import { usageError } from '../usage-error.ts';

export interface ExportCommandOptions {
  readonly out?: string;
  readonly force?: boolean;
  readonly unredacted?: boolean;
}

/** Writes all records of a session, one JSON object per line. */
export const exportCommand = (
  context: CliContext,
  said: string,
  { out, force = false, unredacted = false }: ExportCommandOptions,
): Promise<number> =>
  withProject(context, async (project) => {
    const { runtime, owner } = project;
    const { id } = await findSession(project, said);
    const records = exportSession(runtime, id, { owner, unredacted });
    if (out === undefined) {
      for await (const record of records) context.io.stdout.write(jsonLine(record));
      return 0;
    }
    let count = 0;
    const path = resolve(context.io.cwd, out);
    const bytes = await writing(path, out, force, async (file) => {
      let written = 0;
      for await (const record of records) {
        written += (await file.write(exportLine(record))).bytesWritten;
        count += 1;
      }
      return written;
    });
    if (context.isJson)
      context.printJson({ type: 'export', sessionId: id, path, records: count, bytes, unredacted });
    else
      context.print(
        `Exported session ${shortId(id)} to ${out}: ${counted(count, 'record')}, ${bytesText(bytes)}, ` +
          `${unredacted ? 'with its secrets, ' : ''}readable only by you.`,
      );
    return 0;
  });

/** Opens a file that only the user can read; a file that could not be written whole is removed. */
async function writing(
  path: string,
  name: string,
  force: boolean,
  work: (file: FileHandle) => Promise<number>,
): Promise<number> {
  // a file that is overwritten keeps its rights, so it is made anew
  if (force) await rm(path, { force: true });
  const file = await open(path, 'wx', 0o600).catch((error: unknown) => {
    throw (error as NodeJS.ErrnoException).code === 'EEXIST'
      ? usageError(`${name} exists. Choose another file, or overwrite it with --force.`)
      : error;
  });
  try {
    return await work(file);
  } catch (error) {
    await rm(path, { force: true });
    throw error;
  } finally {
    await file.close();
  }
}
