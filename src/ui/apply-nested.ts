import type { Envelope } from '../broadcasting/envelope.ts';
import { applyApproval, applyInput, withoutWaiting } from './apply-tools.ts';
import { isTruncated } from './message-list.ts';
import { trackOf, withDiscard, withTrack, type LogSnapshot, type UiRun } from './log-snapshot.ts';
import type { UiMessage } from './ui-message.ts';

type OnRun = LogSnapshot & { readonly run: UiRun };

/** Shows a nested agent as one temporary status line: its texts are never the answer. */
export function applyNested(snapshot: OnRun, envelope: Envelope): LogSnapshot {
  const { agent_id: agentId, parent_agent_id: parent = null } = envelope;
  const track = trackOf(snapshot.run, agentId);
  const run = withTrack(snapshot.run, agentId, { parent });
  const on = { ...snapshot, run };
  const says = (content: string, at: UiRun = run): LogSnapshot => ({
    ...snapshot,
    run: withTrack(at, agentId, { note: nestedNote(run.id, envelope, content) }),
  });
  switch (envelope.type) {
    case 'agent.step.started':
      return says('Thinking…', withTrack(run, agentId, { startedAt: envelope.timestamp }));
    case 'agent.message': {
      const { content, step } = envelope.payload;
      const doneStep = Math.max(track.doneStep, step);
      return says(
        isTruncated(content) ? content.summary : content,
        withTrack(run, agentId, { doneStep }),
      );
    }
    case 'agent.tool.started': {
      const { tool, tool_call_id } = envelope.payload;
      return says(`Running ${tool}…`, withoutWaiting(run, tool_call_id));
    }
    case 'agent.tool.completed': {
      const { tool, tool_call_id, success } = envelope.payload;
      return says(
        `${tool} ${success ? 'has answered' : 'has failed'}.`,
        withoutWaiting(run, tool_call_id),
      );
    }
    case 'agent.approval.requested':
      return applyApproval(on, envelope);
    case 'agent.input.requested':
      return applyInput(on, envelope);
    case 'agent.step.completed': {
      const { step, has_tool_calls } = envelope.payload;
      const doneStep = Math.max(track.doneStep, step);
      const note = has_tool_calls ? track.note : null;
      return { ...snapshot, run: withTrack(run, agentId, { doneStep, note }) };
    }
    case 'agent.stream.discarded':
      return { ...on, run: withDiscard(run, envelope) };
    default:
      return on;
  }
}

export const nestedNote = (
  runId: string,
  {
    agent_id,
    parent_agent_id,
    timestamp,
  }: Pick<Envelope, 'agent_id' | 'parent_agent_id' | 'timestamp'>,
  content: string,
): UiMessage => ({
  id: `${runId}:agent:${agent_id}`,
  role: 'status',
  content,
  timestamp,
  metadata: {
    status_type: 'info',
    agent_id,
    ...(parent_agent_id !== undefined && { parent_agent_id }),
  },
});
