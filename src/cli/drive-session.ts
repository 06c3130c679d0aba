import { uuid } from '../ids.ts';
import { AgentError } from '../errors/agent-error.ts';
import type { Session } from '../sessions/session.ts';
import { askApproval, type Answer } from './ask-approval.ts';
import { askInput } from './ask-input.ts';
import type { CliContext } from './cli-context.ts';
import type { CliSignal } from './cli-io.ts';
import { exitCodeOf, exitCodeOfSignal } from './exit-codes.ts';
import { shortId } from './format.ts';
import { giveAnswer } from './give-answer.ts';
import { holdOutput, type HeldOutput } from './hold-output.ts';
import { liveOutput } from './run-reporter.ts';
import type { Project } from './project.ts';
import { reportSession } from './report-session.ts';
import { printEnding } from './run-ending.ts';
import { visibleLines } from '../visible-text.ts';

/** Milliseconds in which a step may finish after SIGTERM. */
const GRACE_MS = 10_000;

export interface DriveOptions {
  readonly sessionId: string;
  /** The execution to continue, and the last log number that was already reported. Default: a new one. */
  readonly from?: { readonly executionId: string; readonly after: number };
  /** Starts the work. */
  begin(executionId: string): Promise<unknown>;
  /** Whether to print text as it arrives, even if it may be discarded. */
  readonly isStreamed: boolean;
  /** Whether to approve every call. */
  readonly isApproving?: boolean;
  /** Whether the work is to end, so that approvals are not asked for. */
  readonly isStopping?: boolean;
}

/** Returns the current end of a session's log, for work that continues its execution. */
export async function logPosition(
  { runtime, owner }: Project,
  { id, executionId }: Session,
): Promise<{ readonly executionId: string; readonly after: number }> {
  if (executionId === null) return { executionId: uuid(), after: 0 };
  // the last page has the end
  const { seq } = await runtime.events(id, { owner, executionId, after: 0, limit: 1 });
  return { executionId, after: seq };
}

/** Runs a session with live output until it ends or pauses, asks for approvals, and prints the explanation. */
export async function driveSession(
  context: CliContext,
  project: Project,
  options: DriveOptions,
): Promise<number> {
  const { runtime, owner } = project;
  const { sessionId, from = { executionId: uuid(), after: 0 } } = options;
  checkAgent(project, await runtime.get(sessionId, { owner }));
  const output = holdOutput(liveOutput(context, sessionId, options.isStreamed));
  const watch = signalWatch(context, project, sessionId, output);
  const report = reportSession(runtime, { sessionId, owner }, from, output);
  try {
    const failed = failureOf(project, sessionId);
    await options.begin(from.executionId);
    let session: Session;
    do {
      session = await settled(project, sessionId, failed);
      await report.catchUp();
      output.rest();
    } while (
      !watch.signal &&
      ((await answer(context, project, session, options, watch)) ||
        (await answerInputs(context, project, session, options, watch)))
    );
    // it may have ended before it could be stopped
    const isTruncated = watch.signal !== null && session.status !== 'completed';
    const code = isTruncated ? exitCodeOfSignal(watch.signal) : exitCodeOf(session);
    await printEnding(context, project, session, code);
    return code;
  } finally {
    watch.end();
    await report.leave();
  }
}

/** Checks that this process has the agent: otherwise the wait would never end. */
function checkAgent({ agents }: Project, { id, agent: wanted }: Session): void {
  const known = agents.map(({ agent }) => agent.name);
  if (known.includes(wanted)) return;
  throw new AgentError(
    'unknown_agent',
    `Session ${shortId(id)} belongs to the agent "${wanted}", which this config does not have. Its agents: ${known.join(', ')}.`,
  );
}

/** Rejects when the session fails here: no other process may ever continue it. */
function failureOf(project: Project, sessionId: string): Promise<never> {
  const failed = new Promise<never>((_resolve, reject) => {
    project.onFailure((error, id) => {
      if (id === sessionId) reject(error instanceof Error ? error : new Error(String(error)));
    });
  });
  failed.catch(() => {});
  return failed;
}

async function settled(
  { runtime, owner }: Project,
  sessionId: string,
  failed: Promise<never>,
): Promise<Session> {
  try {
    return await Promise.race([runtime.wait(sessionId, { owner }), failed]);
  } catch (error) {
    // closed by a signal: the session stays as the step left it
    if (AgentError.is(error, 'runtime_closed')) return runtime.get(sessionId, { owner });
    throw error;
  }
}

/** Asks for the pending approvals. False if none was answered. */
async function answer(
  context: CliContext,
  project: Project,
  { id, pendingApprovals }: Session,
  { isApproving = false, isStopping = false }: DriveOptions,
  watch: SignalWatch,
): Promise<boolean> {
  const canAsk = context.io.isTTY && !context.isJson && !isStopping;
  if (pendingApprovals.length === 0 || !(isApproving || canAsk)) return false;
  let hasAnswered = false;
  for (const call of pendingApprovals) {
    for (;;) {
      const said: Answer | null = isApproving
        ? { approve: true }
        : await watch.asking(() => askApproval(context, call));
      if (said === null) return hasAnswered;
      try {
        await giveAnswer(project, id, call, said);
        hasAnswered = true;
        break;
      } catch (error) {
        // edited arguments do not match: ask again
        if (!AgentError.is(error, 'invalid_approval') || isApproving) throw error;
        context.note(`  ${error.message}`);
      }
    }
  }
  return hasAnswered;
}

/** Asks for the answers to questions of tools. False if none was answered. */
async function answerInputs(
  context: CliContext,
  { runtime, owner }: Project,
  { id, pendingInputs }: Session,
  { isStopping = false }: DriveOptions,
  watch: SignalWatch,
): Promise<boolean> {
  if (!context.io.isTTY || context.isJson || isStopping) return false;
  for (const [i, question] of pendingInputs.entries()) {
    for (;;) {
      const said = await watch.asking(() => askInput(context, question));
      if (said === null) return i > 0;
      const { inputId, executionId } = question;
      try {
        await runtime.answer(id, inputId, { owner, executionId, answer: said });
        break;
      } catch (error) {
        // the content does not match the schema: ask again
        if (!AgentError.is(error, 'invalid_input')) throw error;
        context.note(`  ${visibleLines(error.message)}`);
      }
    }
  }
  return pendingInputs.length > 0;
}

interface SignalWatch {
  readonly signal: CliSignal | null;
  /** While the user is asked, Ctrl-C only leaves the question. */
  asking<T>(question: () => Promise<T>): Promise<T>;
  end(): void;
}

/** Handles signals: Ctrl-C stops the run, SIGTERM hands it over after the step; a second signal exits immediately. */
function signalWatch(
  context: CliContext,
  { runtime, owner }: Project,
  sessionId: string,
  output: HeldOutput,
): SignalWatch {
  let signal: SignalWatch['signal'] = null;
  let isAsking = false;
  const end = context.io.onSignal((name) => {
    if (isAsking && name === 'SIGINT') return;
    if (signal !== null) return context.io.exit(exitCodeOfSignal(name));
    signal = name;
    if (name === 'SIGINT') {
      output.note('Stopping. Press Ctrl-C again to exit now.');
      void runtime.stop(sessionId, { owner, reason: 'Ctrl-C on the command line' }).catch(() => {});
    } else {
      output.note(
        `Finishing the step of session ${shortId(sessionId)}. Press Ctrl-C again to exit now.`,
      );
      void runtime.close({ graceMs: GRACE_MS });
    }
  });
  return {
    get signal() {
      return signal;
    },
    async asking(question) {
      isAsking = true;
      const show = output.hold();
      try {
        return await question();
      } finally {
        isAsking = false;
        show();
      }
    },
    end,
  };
}
