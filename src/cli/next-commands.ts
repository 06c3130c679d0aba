import type { PendingInput } from '../events/agent-event.ts';
import type { Session } from '../sessions/session.ts';
import type { StopSentence } from '../trace/index.ts';
import { quoted, type CliContext } from './cli-context.ts';
import { grantText, oneLine, shortId } from './format.ts';

/** Returns the exact commands to type next: to answer, to continue, or to send a new message. */
export function nextCommands(
  context: Pick<CliContext, 'command'>,
  session: Pick<Session, 'id' | 'pendingApprovals' | 'pendingInputs'>,
  stop: StopSentence | null,
): readonly string[] {
  const id = shortId(session.id);
  return (stop?.explanation.actions ?? []).flatMap((action) => {
    switch (action.kind) {
      case 'approve':
        return answerCommands(context, id, session.pendingApprovals);
      case 'input':
        return session.pendingInputs.flatMap((question) =>
          inputCommands(context, id, question, session.pendingInputs.length === 1),
        );
      case 'grant':
        return [context.command('resume', id, '--grant', grantText(action.grant))];
      case 'resume':
        return [context.command('resume', id)];
      case 'retry':
        return [context.command('parked', '--retry', id), context.command('stop', id)];
      case 'new_message':
        return [context.command('run', "'…'", '--session', id)];
      // a text says what to do, and no command does it
      case 'wait':
      case 'change':
      case 'ask_operator':
        return [];
    }
  });
}

function answerCommands(
  context: Pick<CliContext, 'command'>,
  id: string,
  pending: Session['pendingApprovals'],
): readonly string[] {
  // the only call need not be named
  const calls =
    pending.length === 1 ? [[]] : pending.map(({ callId }) => [quoted(oneLine(callId, Infinity))]);
  const which = pending.length === 1 ? [] : ['<call>'];
  return [
    ...calls.map((call) => context.command('approve', id, ...call)),
    context.command('deny', id, ...which, '--reason', "'…'"),
  ];
}

/** Returns the commands that answer a question; the only one need not be named. */
function inputCommands(
  context: Pick<CliContext, 'command'>,
  id: string,
  { inputId, url }: PendingInput,
  isOnly: boolean,
): readonly string[] {
  const which = isOnly ? [] : [quoted(oneLine(inputId, Infinity))];
  const accept = url === undefined ? ['--content', "'{…}'"] : ['--accept'];
  return [accept, ['--decline']].map((answer) =>
    context.command('answer', id, ...which, ...answer),
  );
}
