import { show } from '../errors/agent-error.ts';
import { sameJson } from '../json.ts';
import { messageOf, type ErrorRecord } from '../errors/error-record.ts';
import type { ToolCall } from '../messages/tool-call.ts';
import { argsHash, argumentsIn, badArguments } from '../tools/arguments.ts';
import { lostCall } from './call-rules.ts';
import { needsApproval } from './missing-approval.ts';
import { ToolCallRunner } from './tool-call-runner.ts';
import { remember, ruleFor } from './approval-rules.ts';
import type { AgentState } from './agent-state.ts';
import { unbooked } from './family-shares.ts';
import { canContinue } from './nested-agent.ts';
import { awaitsInput, takeInputs, type OpenInput } from './open-inputs.ts';
import { checkpointOf } from './pause-step.ts';
import { observedCall } from './run-observer.ts';
import type { Run } from './run.ts';
import type { StepDraft } from './step-draft.ts';
import type { BlockedCalls } from './step-guards.ts';
import { sentence, withoutFullStop } from '../sentence.ts';
import type { AnyTool, ToolSchema } from '../tools/tool.ts';
import { toolSchema } from './agent-options.ts';

/** Most calls of one step that run at the same time. */
const CONCURRENCY = 8;

/** Runs every open call of the step; a call that needs approval stays open. */
export function runCalls(run: Run, draft: StepDraft): Promise<unknown> {
  if (draft.counted === null) rejectOthers(run, draft);
  if (draft.calls.length === 1 && draft.hasOpenCalls) return settle(run, draft, 0);
  const open = draft.openCalls;
  const queue = open.values();
  const worker = async (): Promise<void> => {
    for (const place of queue) {
      if (run.cancellation.cause) return;
      await settle(run, draft, place);
    }
  };
  return Promise.all(Array.from({ length: Math.min(CONCURRENCY, open.length) }, worker));
}

/**
 * Answers the calls of tools that the step did not offer, before any call runs: a process that continues the step finds
 * their results, and runs none of them.
 */
function rejectOthers(run: Run, draft: StepDraft): void {
  if (draft.softLanding !== null) return;
  const { toolNames, found } = draft.offered;
  for (const [place, call] of draft.calls.entries())
    if (!isOffered(draft, call) && draft.problems?.[place] === undefined)
      new ToolCallRunner(run, draft, place).reject(
        'unknown_tool',
        found?.callable.has(call.name) === true && toolNames.includes(found.callTool)
          ? `Call ${show(call.name)} through ${found.callTool}, with its name and arguments. It was not run.`
          : unknownTool(call.name, toolNames),
      );
}

/** Answers the calls that a guard blocks. None of them has run. */
export function blockCalls(run: Run, draft: StepDraft, { places, text }: BlockedCalls): void {
  for (const place of places) new ToolCallRunner(run, draft, place).close('blocked', text);
}

/** Whether the step offered the tool, itself or through the tool that calls found ones. */
export const isOffered = (
  { offered: { toolNameSet, found } }: StepDraft,
  { name, via }: ToolCall,
): boolean =>
  via === undefined
    ? toolNameSet.has(name)
    : toolNameSet.has(via) && found?.callable.has(name) === true;

async function settle(run: Run, draft: StepDraft, place: number): Promise<void> {
  const runner = new ToolCallRunner(run, draft, place);
  const { call } = runner;
  const problem = draft.problems?.[place];
  if (draft.softLanding !== null && !run.answers.has(call.id))
    return runner.close(
      'blocked',
      'Not run: this was the last step, kept for an answer without tools.',
    );
  if (problem !== undefined) return runner.reject('bad_arguments', problem);
  const tool = (draft.counted === null ? draft : run).offered.tools.get(call.name);
  const child = draft.children?.get(call.id);
  if (child && !canContinue(child, tool)) {
    leaveBehind(draft, call.id, child);
    return runner.reject('unknown_tool', agentLeft(call.name, child, draft.offered.toolNames));
  }
  const open = draft.inputs?.get(call.id);
  if (open && !open.isRunning && !isAnswered(run, draft, call, open)) return;
  if (isLost(run, draft, call)) return runner.fail(lostCall(call.name));
  const answer = draft.announced.size > 0 && !child ? run.answers.get(call.id) : undefined;
  if (answer && 'deny' in answer) {
    runner.note(answer, call.args);
    return runner.close('denied', `Denied by a person: ${answer.deny}`);
  }
  const stored = draft.storedSchema(call.name);
  const lost = tool ? undefined : missingSource(run, draft, stored !== undefined);
  if (lost !== undefined) {
    if (!answer && draft.announced.has(call.id)) return;
    if (answer) runner.note(answer, call.args);
    return runner.fail({ type: 'tool', code: 'tool_unavailable', message: lost(call.name) });
  }
  if (!tool) {
    if (answer) runner.note(answer, call.args);
    const message = draft.counted === null ? unknownTool : toolLeft;
    return runner.reject('unknown_tool', message(call.name, draft.offered.toolNames));
  }
  if (child)
    return await observedCall(run, draft, call, () => runner.run(tool, call.args, undefined));
  // earlier releases stored arguments of any depth
  const recorded = draft.counted === null ? call.args : argumentsIn(call.args);
  if (typeof recorded === 'string') return runner.reject('bad_arguments', recorded);
  if (answer && answer.argsHash !== argsHash(call.args))
    return runner.close('blocked', notAsApproved(call.name));
  if (answer && !isAsApproved(run, tool, stored)) {
    runner.note(answer, call.args);
    return runner.close('blocked', changedMeanwhile(call.name));
  }
  const args = answer?.args === undefined ? recorded : runner.edit(answer.args);
  if (answer) runner.note(answer, args);
  const waits = draft.announced.has(call.id);
  let ready: unknown;
  try {
    const checking = tool.check(args);
    const checked = checking instanceof Promise ? await run.cancellation.race(checking) : checking;
    if (!checked.ok)
      return runner.reject('bad_arguments', badArguments(call.name, checked.message));
    if (!answer && waits) return keepSchema(run, draft, tool);
    // a remembered approval of its first run may have been revoked
    const isApproved =
      answer !== undefined || (open?.approval && open.approval.rememberedAt === undefined) === true;
    if (!isApproved && tool.needsApproval && (await needsApproval(run, tool, checked.value))) {
      const rule = await run.cancellation.race(ruleFor(run, tool));
      // a call that has asked for input began before its tool needed approval
      if (rule === null && open) return runner.close('blocked', needsApprovalNow(call.name));
      // an earlier process started the call, and the ledger does not let a started call wait
      if (rule === null && run.journal?.wasStarted(call.id))
        return runner.fail(lostCall(call.name));
      if (rule === null) return keepSchema(run, draft, tool);
      runner.apply(rule, args);
    }
    ready = checked.value;
  } catch (error) {
    if (run.cancellation.cause) return;
    return runner.fail({ type: 'tool', code: 'tool_failed', message: messageOf(error) });
  }
  if (answer && 'remember' in answer && answer.remember === 'session')
    if (!remember(run, tool, answer)) runner.noteNotRemembered();
  if (open) runner.resumeInput();
  await observedCall(run, draft, call, () => runner.run(tool, args, ready));
}

/** Records the answers that have arrived for a call, and returns whether it can run again. */
function isAnswered(run: Run, draft: StepDraft, { name }: ToolCall, open: OpenInput): boolean {
  const { taken, isComplete } = takeInputs(run, draft, open);
  if (taken.length > 0 && run.journal) {
    run.journal.answered(taken, name, checkpointOf(run, draft));
    draft.isSaved = true;
  }
  return isComplete;
}

/** Counts the usage of a nested agent that gives no answer. */
function leaveBehind(draft: StepDraft, callId: string, child: AgentState): void {
  draft.addSpending(unbooked([[callId, child]], draft.childAccounts));
  draft.childAccounts?.delete(callId);
  draft.children?.delete(callId);
}

/** Whether a dead process started the call and it must not run again. Nested agents continue from their own journal. */
function isLost({ journal, offered }: Run, draft: StepDraft, { id, name }: ToolCall): boolean {
  if (!journal?.wasStarted(id) || awaitsInput(draft, id)) return false;
  const tool = offered.tools.get(name);
  return tool === undefined || !(tool.idempotent || tool.agent !== undefined);
}

/** Stores how a sourced tool looked when its call began to wait: the answer is for that tool. */
function keepSchema({ agent }: Run, draft: StepDraft, tool: AnyTool): void {
  if (!agent.tools.has(tool.name) && !draft.storedSchema(tool.name))
    draft.storedSchemas = [...draft.storedSchemas, toolSchema(tool)];
}

/**
 * Whether the tool is still as it was described when a call began to wait. A sourced tool is not, where the document does
 * not say how it looked.
 */
const isAsApproved = ({ agent }: Run, tool: AnyTool, stored: ToolSchema | undefined): boolean =>
  stored === undefined
    ? agent.tools.has(tool.name)
    : tool.description === stored.description && sameJson(tool.jsonSchema, stored.parameters);

/** Why an open call of an earlier run has no tool now: a source that cannot be reached, or that lost the tool. */
function missingSource(
  { loaded }: Run,
  { counted }: StepDraft,
  isSourced: boolean,
): ((name: string) => string) | undefined {
  const [gone] = loaded?.missing ?? [];
  if (counted === null || (!gone && !isSourced)) return undefined;
  const why = gone ? ` (${gone.source}: ${withoutFullStop(gone.reason)})` : '';
  return (name) =>
    `The tool ${show(name)} cannot be reached${why}, so the call was not run. Call it again when it is available.`;
}

/** Closes every open call with a result, so that the conversation stays valid. */
export function closeOpenCalls(run: Run, draft: StepDraft, fatal: ErrorRecord | null = null): void {
  const { cause } = run.cancellation;
  const failed = fatal && `the run stopped on an error of ${fatal.toolName ?? 'the step'}`;
  for (const place of draft.openCalls) {
    const runner = new ToolCallRunner(run, draft, place);
    if (isLost(run, draft, runner.call)) runner.fail(lostCall(runner.call.name));
    else if (cause?.by === 'deadline')
      runner.close('timeout', 'Not finished: the time limit was reached.');
    else
      runner.close(
        'aborted',
        `Not finished: ${sentence(cause?.reason ?? run.stopRequest?.reason ?? failed ?? 'stopped')}`,
      );
  }
}

const changedMeanwhile = (name: string): string =>
  `Blocked: "${name}" has changed since a person was asked about this call. It was not run. Call it again, and they are asked again.`;

const notAsApproved = (name: string): string =>
  `Blocked: the arguments of "${name}" are not those that a person has approved. It was not run.`;

const needsApprovalNow = (name: string): string =>
  `Blocked: "${name}" needs approval now, and this call began without one. It was not run again.`;

/** Of a step that an earlier version of the agent has begun. */
const toolLeft = (name: string, known: readonly string[]): string =>
  `The tool ${show(name)} is not available any more, so the call was not run. Available: ${known.join(', ') || 'none'}.`;

const agentLeft = (name: string, { agentName }: AgentState, known: readonly string[]): string =>
  `The agent ${show(agentName)} behind ${show(name)} was interrupted and is not available any more. What its tools did ` +
  `stays done, and it gives no answer. Available: ${known.join(', ') || 'none'}.`;

const unknownTool = (name: string, known: readonly string[]): string =>
  `There is no tool ${show(name)}. Available: ${known.join(', ') || 'none'}.`;
