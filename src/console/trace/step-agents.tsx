import { useState, type ReactElement } from 'react';
import { counted, countText, moneyText } from '../../number-text.ts';
import type { TraceBar, TraceChild, TraceStep } from '../../trace/trace.ts';
import type { TraceViewProps } from '../contract.ts';
import { Glyph } from '../glyphs.tsx';
import { statusText } from '../status-text.ts';

interface StepAgentsProps {
  readonly step: TraceStep;
  readonly view: TraceViewProps;
}

/** Number of agents to show at first; a step may have many calls. */
const few = 6;

/** Renders the agents that calls of a step ran, each with a button that opens its trace. */
export function StepAgents({ step, view }: StepAgentsProps): ReactElement | null {
  const [isWhole, setWhole] = useState(false);
  const calls = step.bars.filter(({ child, callId }) => child && callId !== null);
  if (calls.length === 0) return null;
  const shown = isWhole ? calls : calls.slice(0, few);
  return (
    <section className="step-agents" aria-label="Agents behind calls">
      <ul>
        {shown.map((call) => (
          <AgentCard key={call.callId} call={call} step={step.number} view={view} />
        ))}
      </ul>
      {shown.length < calls.length && (
        <button
          type="button"
          className="button button-ghost button-small"
          onClick={() => setWhole(true)}
        >
          Show {calls.length - shown.length} more
        </button>
      )}
      <p className="muted">Their usage counts toward the limits of {view.trace.agent}.</p>
    </section>
  );
}

interface AgentCardProps {
  readonly call: TraceBar;
  readonly step: number;
  readonly view: TraceViewProps;
}

export function AgentCard({ call, step, view }: AgentCardProps): ReactElement | null {
  const { child, callId, name } = call;
  if (!child || callId === null) return null;
  return (
    <li className="agent-card" data-status={child.status}>
      <div>
        <p className="agent-card-name">
          <span className="visually-hidden">{name} ran the agent </span>
          <b dir="auto">{child.agent}</b>
          <span className="agent-card-status">
            {statusText({ status: child.status, stopReason: null, approvals: 0 })}
          </span>
        </p>
        <p className="muted">
          {child.agent === name ? '' : `behind ${name} · `}
          {usageText(child)}
        </p>
      </div>
      <button
        type="button"
        className="button button-small"
        data-key="open"
        aria-label={`Open trace of ${child.agent}`}
        onClick={() => view.onOpenCall(callId, step)}
      >
        Open trace
        <Glyph name="expand" size={12} />
      </button>
    </li>
  );
}

const usageText = ({ steps, tokens, cost }: TraceChild): string =>
  [
    counted(steps, 'step'),
    tokens > 0 ? `${countText(tokens)} tokens` : '',
    cost === null || cost === 0 ? '' : moneyText(cost),
  ]
    .filter(Boolean)
    .join(' · ');
