import type { PendingInput } from '../events/agent-event.ts';
import type { InputAnswer } from '../tools/input-request.ts';
import { argsFrom } from './ask-approval.ts';
import type { CliContext } from './cli-context.ts';
import { questionText } from './format.ts';

/** Asks the user at the terminal to answer a question of a tool. Null: later. */
export async function askInput(
  context: CliContext,
  question: PendingInput,
): Promise<InputAnswer | null> {
  const { io, note, paintNote } = context;
  const isForm = question.url === undefined;
  note();
  note(`${paintNote(['bold', 'yellow'], '?')} ${questionText(question, 2_000)}`);
  for (;;) {
    const said = await io.ask(
      isForm
        ? '  Answer as a JSON object, or [d]ecline, [c]ancel, [l]ater: '
        : '  [f]inished there, [d]ecline, [c]ancel, [l]ater? ',
    );
    const word = said?.trim().toLowerCase() ?? '';
    if (word === '' || word === 'l' || word === 'later') return null;
    if (word === 'd' || word === 'decline') return { action: 'decline' };
    if (word === 'c' || word === 'cancel') return { action: 'cancel' };
    if (!isForm) {
      if (word === 'f' || word === 'finished') return { action: 'accept' };
      note('  Type f, d, c or l.');
      continue;
    }
    try {
      return { action: 'accept', content: argsFrom(said ?? '', 'This') };
    } catch (error) {
      note(`  ${(error as Error).message}`);
    }
  }
}
