import type { ContinuationOutcomeJSON } from '../../continuation/outcome.ts';
import type { Session } from '../../sessions/session.ts';
import { counted } from '../../number-text.ts';
import { readTrace, type Trace, type TraceCall, type TraceStep } from '../../trace/index.ts';
import { withProject, type CliContext } from '../cli-context.ts';
import { findSession } from '../find-session.ts';
import { oneLine, shortId } from '../format.ts';
import { nestedLines, nestedTrace, nestedTraces } from '../nested-traces.ts';
import { nextCommands } from '../next-commands.ts';
import type { Project } from '../project.ts';
import { changeLine, stopLine } from '../run-ending.ts';
import {
  answerLines,
  compactionLine,
  compactionLines,
  modelCallLine,
  guardLine,
  steeringLine,
  stepTable,
  totalsLine,
  evaluationLines,
  continuedLine,
} from '../trace-text.ts';
import { usageError } from '../usage-error.ts';

export interface ExplainOptions {
  readonly step?: number;
  readonly execution?: string;
  /** A call that ran an agent: explains that agent. */
  readonly call?: string;
  /** Whether to print what the model was sent and answered in the step, instead of the trace. */
  readonly request?: boolean;
}

/** Prints why a session continued at each step, and why it stopped. */
export const explain = (
  context: CliContext,
  said: string,
  { step, execution, call, request = false }: ExplainOptions,
): Promise<number> =>
  withProject(context, async (project) => {
    const session = await findSession(project, said);
    const whole = await wholeTrace(project, session, { executionId: execution });
    const trace = call === undefined ? whole : await traceBehind(project, session, whole, call);
    if (request) return printModelCall(context, project, trace, step);
    const nested = await nestedTraces(project, trace);
    if (context.isJson) {
      const { agents, omitted: agentsOmitted } = nested;
      context.printJson({ ...trace, agents: agents.map((agent) => agent.trace), agentsOmitted });
      return 0;
    }
    const { print, paint } = context;
    const title = oneLine(session.title ?? '(no message yet)', 70);
    const names = [...(trace.nested?.above ?? []).map(({ agent }) => agent), trace.agent];
    print(
      `${paint('bold', title)}  ${paint('dim', `session ${shortId(session.id)} · ${names.join(' > ')} · ${trace.status}`)}`,
    );
    if (trace.executionId === null) {
      print('Nothing has run yet.');
      return 0;
    }
    printOthers(context, trace);
    print();
    for (const line of stepTable(trace, paint)) print(line);
    print();
    print(paint('dim', totalsLine(trace)));
    for (const line of [...answerLines(trace), ...compactionLines(trace)])
      print(paint('dim', line));
    for (const agent of nested.agents) {
      print();
      for (const line of nestedLines(agent, paint)) print(line);
    }
    if (nested.omitted > 0) printOmitted(context, session, nested.omitted);
    printEvaluations(context, trace, step);
    if (trace.stop) printStop(context, session, trace);
    return 0;
  });

/** Prints the document of one model call. The code is loaded only here. */
async function printModelCall(
  context: CliContext,
  { runtime, owner }: Project,
  trace: Trace,
  asked: number | undefined,
): Promise<number> {
  const step = asked === undefined ? trace.steps.at(-1) : stepNumbered(trace, asked);
  if (!step) throw usageError('--request got no step, because none has run yet. Send a message.');
  const { sessionId, executionId, nested } = trace;
  const place = {
    step: step.number,
    ...(executionId !== null && { executionId }),
    ...(nested && { agentId: nested.agentId }),
  };
  const { readModelCall } = await import('../../trace/index.ts');
  const call = await readModelCall(runtime, sessionId, { owner, ...place, messages: 'all' });
  const { modelCallLines } = await import('../model-call-text.ts');
  if (context.isJson) context.printJson(call);
  else for (const line of modelCallLines(call, context.paint)) context.print(line);
  return 0;
}

function printOmitted({ print, paint, command }: CliContext, { id }: Session, more: number): void {
  const show = command('explain', shortId(id), '--call', 'CALL');
  print();
  print(paint('dim', `  ${counted(more, 'more agent')} behind calls; one of them: ${show}`));
}

/** Reads the trace of the agent behind a call, whole. */
async function traceBehind(
  project: Project,
  session: Session,
  whole: Trace,
  callId: string,
): Promise<Trace> {
  const found = await nestedTrace(project, whole, callId);
  if (!found)
    throw usageError(`--call got ${callId}, but no call of this run with that id ran an agent.`);
  const { executionId } = whole;
  return wholeTrace(project, session, {
    executionId: executionId ?? undefined,
    call: { callId, step: found.rootStep },
  });
}

/** Reads a long execution in pages, newest first. */
async function wholeTrace(
  { runtime, owner }: Project,
  { id }: Session,
  { executionId, call }: { readonly executionId: string | undefined; readonly call?: TraceCall },
): Promise<Trace> {
  const options = {
    owner,
    ...(executionId !== undefined && { executionId }),
    ...(call && { call }),
  };
  let trace = await readTrace(runtime, id, options);
  while (trace.hasEarlier) {
    const before = trace.steps[0]?.number;
    if (before === undefined) break;
    const earlier = await readTrace(runtime, id, { ...options, before });
    if (earlier.steps.length === 0) break;
    trace = {
      ...trace,
      steps: [...earlier.steps, ...trace.steps],
      pauses: [...earlier.pauses, ...trace.pauses],
      hasEarlier: earlier.hasEarlier,
    };
  }
  return trace;
}

function printOthers({ print, paint, command }: CliContext, trace: Trace): void {
  const index = trace.executions.findIndex(({ id }) => id === trace.executionId);
  if (trace.executions.length < 2 || index < 0) return;
  const hint = trace.executions[index === 0 ? 1 : index - 1];
  print(
    paint(
      'dim',
      `Message ${index + 1} of ${trace.executions.length}; another: ${command('explain', shortId(trace.sessionId), '--execution', hint?.id ?? '')}`,
    ),
  );
}

/** Prints the outcome of the requested step, else the last one. */
function printEvaluations(
  { print, paint }: CliContext,
  trace: Trace,
  asked: number | undefined,
): void {
  const step = asked === undefined ? null : stepNumbered(trace, asked);
  const shown = step ?? trace.steps.findLast((each) => each.outcome);
  const outcome: ContinuationOutcomeJSON | null =
    step === null ? (shown?.outcome ?? trace.outcome) : step.outcome;
  const number = shown?.number;
  print();
  if (!outcome) {
    print('No outcome yet.');
    return;
  }
  print(paint('bold', number === undefined ? 'Before the first step' : `Step ${number}`));
  for (const line of evaluationLines(outcome, paint)) print(line);
  const continued = continuedLine(outcome);
  if (continued !== null) print(continued);
  for (const line of shown
    ? [guardLine(shown), steeringLine(shown), compactionLine(shown), modelCallLine(shown)]
    : [])
    if (line !== null) print(paint('dim', line));
  if (step && step.notes.length > 0)
    for (const note of step.notes) print(paint('dim', `  ${oneLine(note, 300)}`));
}

function stepNumbered({ steps }: Trace, asked: number): TraceStep {
  const step = steps.findLast(({ number }) => number === asked);
  if (step) return step;
  throw usageError(
    steps.length === 0
      ? `--step got ${asked}, but no step has run yet. Omit --step.`
      : `--step got ${asked}, expected a number from ${steps[0]?.number} to ${steps.at(-1)?.number}.`,
  );
}

function printStop(context: CliContext, session: Session, trace: Trace): void {
  const { print, paint } = context;
  const { stop } = trace;
  if (!stop) return;
  print();
  print(paint('bold', stopLine(stop)));
  const change = changeLine(stop);
  if (change !== null) print(`  ${change}`);
  // actions apply only to the newest execution
  if (trace.executionId !== session.executionId || trace.nested) return;
  for (const line of nextCommands(context, session, stop)) print(`  ${paint('cyan', line)}`);
}
