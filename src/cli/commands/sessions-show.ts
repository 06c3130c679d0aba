import { statusFacts } from '../../agent/agent-status.ts';
import { textOf } from '../../messages/content-part.ts';
import type { MessageJSON } from '../../messages/message.ts';
import { reasonText, stopSentenceOf } from '../../trace/index.ts';
import { counted } from '../../number-text.ts';
import { withProject, type CliContext } from '../cli-context.ts';
import { findSession } from '../find-session.ts';
import {
  ago,
  argsSummary,
  askedText,
  costText,
  oneLine,
  questionText,
  shortId,
} from '../format.ts';
import { nextCommands } from '../next-commands.ts';
import { stopLine } from '../run-ending.ts';
import { summaryOf } from '../../server/session-views.ts';

export interface ShowOptions {
  readonly messages: number;
}

/** Prints facts, the end of the conversation and pending approvals. */
export const showSession = (
  context: CliContext,
  said: string,
  options: ShowOptions,
): Promise<number> =>
  withProject(context, async (project) => {
    const { runtime, owner } = project;
    const session = await findSession(project, said);
    const page = await runtime.messages(session.id, { owner, limit: options.messages });
    const stop = stopSentenceOf(session);
    const { imported } = session;
    if (context.isJson) {
      const { usage, cost, info, pause, stopReason, output, metadata } = session;
      const { pendingApprovals, pendingInputs } = session;
      context.printJson({
        ...summaryOf(session),
        owner,
        usage,
        cost,
        info,
        pause,
        pendingApprovals,
        pendingInputs,
        stopReason,
        output,
        metadata,
        stop,
        messages: page.items,
        before: page.before,
      });
      return 0;
    }
    const { print, paint } = context;
    const { broadcast } = statusFacts(session.status, session.stopReason);
    const now = Date.now();
    const facts: readonly (readonly [string, string])[] = [
      ['session', session.id],
      ['title', oneLine(session.title ?? '(no message yet)', 200)],
      ['status', `${broadcast} · ${oneLine(reasonText(session), 200)}`],
      ['agent', `${session.agent} · owner ${owner}`],
      ...(imported
        ? [
            [
              'import',
              `read-only copy of ${imported.sessionId}, exported ${imported.exportedAt}`,
            ] as const,
          ]
        : []),
      ['began', `${session.createdAt} (${ago(session.createdAt, now)})`],
      ['changed', `${session.updatedAt} (${ago(session.updatedAt, now)})`],
      [
        'so far',
        [
          counted(session.messageCount, 'message'),
          counted(session.stepCount, 'step'),
          counted(session.info.usage.total, 'token'),
          costText(session.info.cost),
        ]
          .filter((fact) => fact !== '')
          .join(' · '),
      ],
    ];
    for (const [name, value] of facts) print(`${paint('dim', name.padEnd(8))}  ${value}`);
    print();
    if (page.before !== null) print(paint('dim', `  … ${counted(page.before, 'earlier message')}`));
    for (const line of page.items.flatMap((message) => messageLines(context, message))) print(line);
    if (stop) {
      print();
      print(paint('bold', stopLine(stop)));
    }
    for (const call of session.pendingApprovals)
      print(
        `  ${paint('yellow', '?')} ${askedText(call, 200)} ${paint('dim', oneLine(call.callId, 120))}`,
      );
    for (const question of session.pendingInputs)
      print(
        `  ${paint('yellow', '?')} ${questionText(question, 200)} ${paint('dim', oneLine(question.inputId, 160))}`,
      );
    for (const line of nextCommands(context, session, stop)) print(`  ${paint('cyan', line)}`);
    print(paint('dim', `  ${context.command('explain', shortId(session.id))}`));
    return 0;
  });

function messageLines({ paint }: CliContext, message: MessageJSON): string[] {
  const text = oneLine(textOf(message.content), 240);
  const calls = message.toolCalls.map(
    ({ name, args }) =>
      `${' '.repeat(13)}${paint('dim', `→ ${oneLine(name, 80)} ${argsSummary(args, 120)}`)}`,
  );
  const role = `  ${message.role.padEnd(9)}  `;
  return [...(text === '' ? [] : [`${paint('dim', role)}${text}`]), ...calls];
}
