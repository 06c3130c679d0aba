import type { AgentStepJSON } from '../agent/agent-state.ts';
import type { ErrorRecord } from '../errors/error-record.ts';
import type { ExportedStep, SessionExport } from '../exports/session-export.ts';
import { textOf } from '../messages/content-part.ts';
import type { MessageJSON } from '../messages/message.ts';
import type { ScenarioStep } from './scenario-step.ts';
import type { ScriptedAgent } from './session-script.ts';

/** Returns the answers of the models of all agents of a session. */
export function modelsOf(session: SessionExport): readonly ScriptedAgent[] {
  const { messages, agents } = session;
  const stepsOf = (agentId: string): readonly ExportedStep[] =>
    session.steps.filter((step) => step.agentId === agentId);
  const byId = new Map(messages.map(({ message }) => [message.id, message]));
  const answersOf = (agentId: string, open: AgentStepJSON | null): readonly ScenarioStep[] =>
    [...stepsOf(agentId).map(({ step }) => step), ...(open ? [open] : [])].flatMap((step) =>
      answersIn(session, step, byId),
    );
  const callers = new Map<string, { readonly agentId: string; readonly tool: string }>();
  const note = (agentId: string, step: AgentStepJSON): void => {
    for (const { id, name } of step.toolCalls)
      callers.set(`${step.executionId} ${id}`, { agentId, tool: name });
  };
  for (const { agentId, step } of session.steps) note(agentId, step);
  if (session.state.unfinishedStep) note('', session.state.unfinishedStep);
  for (const { agentId, state } of agents)
    if (state.unfinishedStep) note(agentId, state.unfinishedStep);
  const calls = new Map(agents.map((agent) => [agent.agentId, agent]));
  const pathOf = (agentId: string): readonly string[] => {
    const agent = calls.get(agentId);
    const caller = agent && callers.get(`${agent.executionId} ${agent.callId}`);
    return caller ? [...pathOf(caller.agentId), caller.tool] : [];
  };
  return [
    { path: [], input: null, answers: answersOf('', session.state.unfinishedStep) },
    ...agents.map(({ agentId, state }): ScriptedAgent => {
      const first = messages.find((one) => one.agentId === agentId && one.message.role === 'user');
      return {
        path: pathOf(agentId),
        input: first ? textOf(first.message.content) : '',
        answers: answersOf(agentId, state.unfinishedStep),
      };
    }),
  ];
}

/** Returns the answers of the model in a step: summaries, then the answer or the failure. */
function answersIn(
  { compactions }: SessionExport,
  step: AgentStepJSON,
  messages: ReadonlyMap<string, MessageJSON>,
): readonly ScenarioStep[] {
  const summaries = (step.compactions ?? []).flatMap(({ id, kind }): ScenarioStep[] => {
    const made = compactions.find(({ compaction }) => compaction.id === id)?.compaction;
    if (kind !== 'summary' || made?.text === undefined) return [];
    return [{ content: made.text, calls: [], extras: { usage: made.usage, ...costOf(made.cost) } }];
  });
  const usage = step.modelUsage ?? step.usage;
  const hasAgents = step.modelUsage !== undefined;
  const extras = { usage, ...(!hasAgents && costOf(step.cost)) };
  if (step.type === 'error') {
    const [failed] = step.errors;
    const { at: _at, retryAfterMs: _wait, requestId: _id, ...error } = failed ?? noError;
    return [...summaries, { content: '', calls: [], error, extras }];
  }
  const message = step.messageIds
    .map((id) => messages.get(id))
    .find((one) => one?.role === 'assistant');
  if (!message) return summaries;
  const calls = message.toolCalls.map(({ id, name, args, argsRaw, via }) => ({
    id,
    name: via ?? name,
    ...(argsRaw === undefined
      ? { args: via === undefined ? args : { name, arguments: args } }
      : { argsRaw }),
  }));
  const finish = step.finishReason === null ? {} : { finishReason: step.finishReason };
  return [
    ...summaries,
    { content: textOf(message.content), calls, extras: { ...extras, ...finish } },
  ];
}

const noError: ErrorRecord = {
  type: 'model',
  code: 'scripted',
  message: 'The model call failed.',
  retryable: false,
  at: '',
};

const costOf = (cost: number | null): { readonly cost?: number } => (cost === null ? {} : { cost });
