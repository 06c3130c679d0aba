import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { importSession } from '../../exports/index.ts';
import { counted } from '../../number-text.ts';
import { withProject, type CliContext } from '../cli-context.ts';
import { shortId } from '../format.ts';
import { usageError } from '../usage-error.ts';

/** Imports the file of an export as a read-only session of the owner. */
export const importCommand = (
  context: CliContext,
  file: string,
  { id }: { readonly id?: string },
): Promise<number> =>
  withProject(context, async ({ runtime, owner }) => {
    const path = resolve(context.io.cwd, file);
    const found = await stat(path).catch(() => null);
    if (!found?.isFile())
      throw usageError(`There is no file ${file}. Name a file of onward export.`);
    const source = createReadStream(path) as AsyncIterable<Uint8Array>; // no encoding is set
    const session = await importSession(runtime, source, {
      owner,
      ...(id !== undefined && { id }),
    });
    const { agent, status, messageCount, stepCount, imported } = session;
    if (context.isJson) {
      const facts = { sessionId: session.id, agent, status, messageCount, stepCount, imported };
      context.printJson({ type: 'import', ...facts });
      return 0;
    }
    context.print(
      `Imported ${file} as session ${session.id} of ${owner}, read-only: ${counted(messageCount, 'message')}, ` +
        `${counted(stepCount, 'step')}.`,
    );
    for (const words of [['explain'], ['sessions', 'show'], ['sessions', 'delete']])
      context.print(`  ${context.paint('cyan', context.command(...words, shortId(session.id)))}`);
    return 0;
  });
