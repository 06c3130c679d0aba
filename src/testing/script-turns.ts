import type { ApprovalAnswer } from '../agent/approval-answer.ts';
import type { AgentEvent, EventOf } from '../events/agent-event.ts';
import { eventIn, type SessionExport } from '../exports/session-export.ts';
import type { JsonObject } from '../json.ts';
import type { MessageContent } from '../messages/content-part.ts';
import { resultText, type ToolResult } from '../tools/tool-result.ts';
import type { ScriptTurn } from './session-script.ts';

/** Returns what was done with the session, from its log. */
export function turnsOf(session: SessionExport): readonly ScriptTurn[] {
  const own = session.events.map(eventIn).filter(({ parentAgentId }) => parentAgentId === null);
  const answers = answersTo(session);
  const grants = session.steps
    .filter(({ agentId }) => agentId === '')
    .flatMap(({ totals }) => totals.execution.grantLog ?? [])
    .concat(session.state.execution.grantLog ?? []);
  const given = new Set<string>();
  const turns: ScriptTurn[] = [];
  let paused: EventOf<'AgentPaused'> | null = null;
  for (const [i, event] of own.entries()) {
    if (event.type === 'AgentPaused') paused = event;
    if (event.type === 'AgentFinished' && event.previousStatus === 'paused' && paused) {
      turns.push({ stop: 'stopped' });
      paused = null;
    }
    if (event.type !== 'AgentStarted') continue;
    if (!event.resumed) {
      turns.push({ send: sentWith(session, own, i) });
      paused = null;
      continue;
    }
    if (event.previousStatus === 'in_progress') continue;
    const grant = grants.find((one) => one.at <= event.at && !given.has(one.at));
    if (grant) given.add(grant.at);
    const approvals =
      event.previousStatus === 'paused' && paused ? answers(paused, own.slice(i)) : {};
    turns.push({
      resume: {
        ...(grant && { grant: grant.grant }),
        ...(Object.keys(approvals).length > 0 && { approvals }),
      },
    });
    paused = null;
  }
  return turns;
}

/** Returns the message that an execution answers: the log may have a shortened one. */
function sentWith(session: SessionExport, own: readonly AgentEvent[], at: number): MessageContent {
  const texts: MessageContent[] = [];
  const byId = new Map(session.messages.map(({ message }) => [message.id, message.content]));
  for (const event of own.slice(at + 1)) {
    if (event.type === 'MessageAdded' && event.stepNumber === 0 && event.role === 'user')
      texts.push(byId.get(event.messageId) ?? event.content);
    else break;
  }
  return texts.at(-1) ?? '';
}

type Answers = (
  paused: EventOf<'AgentPaused'>,
  rest: readonly AgentEvent[],
) => Readonly<Record<string, ApprovalAnswer>>;

/** Returns the recorded answers to the calls of a pause, without those that the next pause still waits for. */
function answersTo({ steps, state, agents }: SessionExport): Answers {
  const all = [
    ...steps.map(({ step }) => step),
    ...[state, ...agents.map((agent) => agent.state)].flatMap(({ unfinishedStep }) =>
      unfinishedStep ? [unfinishedStep] : [],
    ),
  ];
  const remembered = new Set<string>();
  const records = new Map<
    string,
    { readonly result: ToolResult; readonly args: JsonObject; readonly tool: string }
  >();
  for (const step of all)
    for (const { id, name, args } of step.toolCalls) {
      const result = step.results.find(({ callId }) => callId === id);
      if (result?.approval?.rememberedAt !== undefined) remembered.add(name);
      if (result) records.set(id, { result, args, tool: name });
    }
  return (paused, rest) => {
    const next = rest.find(({ type }) => type === 'AgentPaused') as
      | EventOf<'AgentPaused'>
      | undefined;
    const open = new Set(next?.pendingApprovals.map(({ callId }) => callId));
    const answers = new Map<string, ApprovalAnswer>();
    for (const { callId } of paused.pendingApprovals) {
      const found = records.get(callId);
      if (open.has(callId) || !found?.result.approval) continue;
      const { decision } = found.result.approval;
      answers.set(
        callId,
        decision === 'denied'
          ? { deny: resultText(found.result.value).replace(DENIED, '') }
          : {
              approve: true,
              ...(decision === 'edited' && { args: found.args }),
              ...(remembered.has(found.tool) && { remember: 'session' }),
            },
      );
    }
    return Object.fromEntries(answers);
  };
}

const DENIED = /^Denied by a person: /;
