import { AgentError } from '../errors/agent-error.ts';
import { eventIn, type SessionExport } from '../exports/session-export.ts';

/** Returns what a scripted model cannot repeat in a session; empty if it can. */
export function unrepeatable(session: SessionExport): readonly string[] {
  const { steps, events, state, session: facts } = session;
  const own = steps.filter(({ agentId }) => agentId === '');
  const problems = new Set<string>();
  if (own.length < facts.stepCount) problems.add('its early steps were pruned');
  if (own.length > 0 && events.length === 0) problems.add('its events were pruned');
  if (facts.phase === 'open') problems.add('it is busy');
  if (facts.phase === 'parked') problems.add('it is parked');
  if (facts.closeReason !== null) problems.add('it was stopped without its state');
  for (const { step } of steps) {
    const { outcome, type } = step;
    if (type === 'cut') problems.add('a step was interrupted');
    if (outcome?.stopReason === 'time_limit') problems.add('it stopped at a time limit');
    const decisive = outcome?.evaluations.find(({ criterion }) => criterion === outcome.resolvedBy);
    const by = decisive?.facts;
    if (
      outcome?.stopReason === 'user_requested' &&
      !(by?.kind === 'stop_request' && by.source === 'tool')
    )
      problems.add('it was stopped on request');
  }
  for (const event of events.map(eventIn)) {
    if (event.type === 'ToolInputRequested') problems.add('a tool asked the user');
    if (event.type === 'AgentPaused' && event.kind === 'requested')
      problems.add('it was paused on request');
  }
  if (state.pause?.kind === 'fork') problems.add('it is a fork that was not resumed');
  return [...problems];
}

export const notRepeatable = (problems: readonly string[]): AgentError =>
  new AgentError(
    'invalid_option',
    `A test cannot repeat this session: ${problems.join(', ')}. ` +
      'Export it as JSON, or record a session without that.',
    { details: { option: 'session', problems } },
  );
