import { open, rm, type FileHandle } from 'node:fs/promises';
import { dirname, relative, resolve } from 'node:path';
import { collectExport, exportLine, exportSession } from '../../exports/index.ts';
import { counted } from '../../number-text.ts';
import { bytesText } from '../bytes-text.ts';
import { withProject, type CliContext } from '../cli-context.ts';
import { findSession } from '../find-session.ts';
import { shortId } from '../format.ts';
import { jsonLine } from '../json-line.ts';
import { findConfig } from '../load-config.ts';
import type { Project } from '../project.ts';
import { usageError } from '../usage-error.ts';

export interface ExportCommandOptions {
  readonly out?: string;
  readonly force?: boolean;
  readonly unredacted?: boolean;
  /** Whether to write a test instead of the records. */
  readonly test?: boolean;
  readonly recorded?: readonly string[];
}

/** Writes all records of a session, one JSON object per line, or a test that repeats it. */
export const exportCommand = (
  context: CliContext,
  said: string,
  options: ExportCommandOptions,
): Promise<number> =>
  withProject(context, async (project) => {
    const { id } = await findSession(project, said);
    if (options.test) return writeTest(context, project, id, options);
    if (options.recorded) throw usageError('--recorded is for tests. Add --test.');
    return writeRecords(context, project, id, options);
  });

async function writeRecords(
  context: CliContext,
  { runtime, owner }: Project,
  id: string,
  { out, force = false, unredacted = false }: ExportCommandOptions,
): Promise<number> {
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
}

async function writeTest(
  context: CliContext,
  { runtime, owner, isDemo }: Project,
  id: string,
  { out, force = false, unredacted = false, recorded }: ExportCommandOptions,
): Promise<number> {
  const { cwd } = context.io;
  if (isDemo)
    throw usageError('A test needs a config with the agents: onward.config.ts. The demo has none.');
  if (unredacted) throw usageError('A test has no secrets. Leave out --unredacted.');
  const { sessionTest } = await import('../../testing/session-test.ts');
  const session = await collectExport(exportSession(runtime, id, { owner }));
  const path = out === undefined ? null : resolve(cwd, out);
  const config = findConfig(cwd, context.options.config) ?? resolve(cwd, 'onward.config.ts');
  const text = sessionTest(session, {
    config: importPath(path === null ? cwd : dirname(path), config),
    ...(recorded && { recordedTools: recorded.includes('all') ? 'all' : recorded }),
  });
  if (path === null || out === undefined) {
    context.io.stdout.write(text);
    return 0;
  }
  const bytes = await writing(
    path,
    out,
    force,
    async (file) => (await file.write(text)).bytesWritten,
  );
  if (context.isJson) context.printJson({ type: 'export', sessionId: id, path, bytes });
  else {
    context.print(`Wrote ${out}, a test that repeats session ${shortId(id)}: ${bytesText(bytes)}.`);
    context.print(`  ${context.paint('cyan', `npx vitest run ${out}`)}`);
  }
  return 0;
}

function importPath(from: string, to: string): string {
  const path = relative(from, to).replaceAll('\\', '/');
  return path.startsWith('.') ? path : `./${path}`;
}

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
