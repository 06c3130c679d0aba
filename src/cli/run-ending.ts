import { statusFacts } from '../agent/agent-status.ts';
import { explanationLine } from '../continuation/explanation.ts';
import type { Session } from '../sessions/session.ts';
import { readTrace, type StopSentence, type Trace } from '../trace/index.ts';
import { counted, durationText } from '../number-text.ts';
import type { CliContext } from './cli-context.ts';
import { exitCodes } from './exit-codes.ts';
import { costText, oneLine, questionText, shortId, askedText } from './format.ts';
import { nextCommands } from './next-commands.ts';
import type { Project } from './project.ts';

/** Returns "Stopped because … To continue, …". */
export const stopLine = ({ explanation }: StopSentence): string =>
  oneLine(explanationLine(explanation), 2_000);

/** What to change, where commands alone do not continue the session. */
export function changeLine({ explanation }: StopSentence): string | null {
  const action = explanation.actions.find(
    ({ kind }) => kind === 'change' || kind === 'ask_operator',
  );
  return action ? `To continue: ${oneLine(action.developerText, 1_000)}` : null;
}

/** The last lines of a command that worked on a session: why it stopped or paused, and what to type next. */
export async function printEnding(
  context: CliContext,
  project: Project,
  session: Session,
  exitCode: number,
): Promise<void> {
  const { runtime, owner } = project;
  const trace = await readTrace(runtime, session.id, { owner });
  const next = nextCommands(context, session, trace.stop);
  if (context.isJson) return context.printJson(resultLine(context, session, trace, next, exitCode));
  const { note, paintNote } = context;
  note();
  note(paintNote('bold', trace.stop ? stopLine(trace.stop) : openLine(context, session)));
  const change = trace.stop && changeLine(trace.stop);
  if (change) note(`  ${change}`);
  for (const call of session.pendingApprovals) note(`  ${askedText(call, 300)}`);
  for (const question of session.pendingInputs) note(`  ${questionText(question, 300)}`);
  for (const line of next) note(`  ${paintNote('cyan', line)}`);
  note(
    paintNote(
      'dim',
      `${factsLine(session.id, trace)} · ${context.command('explain', shortId(session.id))}`,
    ),
  );
}

const openLine = ({ command }: CliContext, { status }: Session): string =>
  status === 'pending'
    ? 'Nothing has run yet.'
    : `It is busy in another process, or waits for a worker: \`${command('recover')}\` continues it.`;

/** Formats `session 1a2b3c4d · 5 steps · 3.2 s · 1,204 tokens · $0.01`. */
function factsLine(sessionId: string, { totals }: Trace): string {
  return [
    `session ${shortId(sessionId)}`,
    counted(totals.steps.used, 'step'),
    durationText(totals.seconds.used * 1_000),
    counted(totals.tokens.used, 'token'),
    costText(totals.cost.used),
  ]
    .filter((fact) => fact !== '')
    .join(' · ');
}

/** Returns the last line of `--json`, with the names of the envelopes. */
function resultLine(
  context: CliContext,
  session: Session,
  trace: Trace,
  next: readonly string[],
  exitCode: number,
): Record<string, unknown> {
  const { status, stopReason } = session;
  const { steps, seconds, cost } = trace.totals;
  return {
    type: 'result',
    session_id: session.id,
    execution_id: session.executionId,
    status: statusFacts(status, stopReason).broadcast,
    stop_reason: stopReason,
    exit_code: exitCode,
    exit_name: exitCodes.find(({ code }) => code === exitCode)?.name ?? 'unexpected',
    output: session.output,
    explanation: trace.stop ? stopLine(trace.stop) : null,
    stop: trace.stop,
    pending_approvals: session.pendingApprovals.map((call) => ({
      tool_call_id: call.callId,
      tool: call.tool,
      args: call.args,
      args_hash: call.argsHash,
      execution_id: call.executionId,
      ...(call.hidden && { hidden: call.hidden }),
      path: call.path,
    })),
    pending_inputs: session.pendingInputs.map((question) => ({
      input_id: question.inputId,
      tool_call_id: question.callId,
      tool: question.tool,
      key: question.key,
      message: question.message,
      ...(question.schema && { schema: question.schema }),
      ...(question.url !== undefined && { url: question.url }),
      execution_id: question.executionId,
      path: question.path,
    })),
    next,
    explain: context.command('explain', shortId(session.id)),
    usage: {
      steps: steps.used,
      seconds: seconds.used,
      input: trace.totals.inputTokens,
      output: trace.totals.outputTokens,
      cost: cost.used,
    },
  };
}
