import type { PendingApproval } from '../events/agent-event.ts';
import { hiddenText, isHiddenAt } from '../events/hidden-args.ts';
import { isRecord, parseJson, type JsonObject } from '../json.ts';
import { visibleJson, visibleName } from '../visible-text.ts';
import type { CliContext } from './cli-context.ts';
import { oneLine } from './format.ts';
import { usageError } from './usage-error.ts';

export type Answer =
  | { readonly approve: true; readonly args?: JsonObject; readonly remember?: 'session' }
  | { readonly deny: string };

/** Parses arguments that the user typed. */
export function argsFrom(text: string, from: string): JsonObject {
  const parsed = parseJson(text);
  if (!parsed.ok)
    throw usageError(`${from} is not JSON: ${parsed.error}. Pass an object such as '{"id": 7}'.`);
  if (!isRecord(parsed.value))
    throw usageError(
      `${from} is not an object. Pass all arguments of the tool, such as '{"id": 7}'.`,
    );
  return parsed.value;
}

/** Asks the user at the terminal to answer one call. Null: later. */
export async function askApproval(
  context: CliContext,
  { tool, args, path, hidden }: PendingApproval,
): Promise<Answer | null> {
  const { io, note, paintNote } = context;
  note();
  note(
    `${paintNote(['bold', 'yellow'], '?')} ${paintNote('bold', oneLine(tool, 80))} needs approval. It has not run.`,
  );
  if (path.length > 0)
    note(paintNote('dim', `  requested by the nested agent ${oneLine(path.join(' > '), 200)}`));
  for (const [name, value] of Object.entries(args)) {
    const mark = isHiddenAt(hidden, name) ? ` ${paintNote('yellow', '(hidden)')}` : '';
    note(`  ${visibleName(name)}: ${visibleJson(JSON.stringify(value))}${mark}`);
  }
  const hiding = hiddenText(hidden);
  if (hiding !== null)
    note(`  ${paintNote('yellow', '!')} ${hiding} The tool gets the hidden values.`);
  for (;;) {
    const said = await io.ask('  [a]pprove, [e]dit arguments, [d]eny, [l]ater? ');
    if (said === null) return null;
    switch (said.trim().toLowerCase()) {
      case 'a':
      case 'approve':
      case 'y':
      case 'yes':
        return { approve: true };
      case 'd':
      case 'deny':
      case 'n':
      case 'no': {
        const reason = await io.ask('  Reason, which the model reads: ');
        return reason === null ? null : { deny: reason.trim() || 'Denied on the command line.' };
      }
      case 'e':
      case 'edit': {
        const text = await io.ask(
          `  All arguments as JSON (now ${visibleJson(JSON.stringify(args))}): `,
        );
        if (text === null) return null;
        try {
          return { approve: true, args: argsFrom(text, 'This') };
        } catch (error) {
          note(`  ${(error as Error).message}`);
          break;
        }
      }
      case 'l':
      case 'later':
      case '':
        return null;
      default:
        note('  Type a, e, d or l.');
    }
  }
}
