import { useMemo, type ReactElement } from 'react';
import type { TraceStep } from '../../trace/trace.ts';
import type { TraceViewProps } from '../contract.ts';
import type { StepTab } from '../route.ts';
import { ModelCallPane } from './model-call-pane.tsx';
import { PayloadContext } from './payload-context.ts';
import { RawPane } from './raw-pane.tsx';
import { ToolCallsPane } from './tool-calls-pane.tsx';
// oxlint-disable-next-line import/no-unassigned-import -- styles of what is loaded on demand
import './payloads.css';

/** Renders the payloads of a step, loaded when one of their tabs opens. */
export function StepPanes({
  tab,
  step,
  view,
}: {
  readonly tab: Exclude<StepTab, 'decision'>;
  readonly step: TraceStep;
  readonly view: TraceViewProps;
}): ReactElement {
  const { trace, payloads = null } = view;
  const agent = trace.nested?.agentId ?? null;
  const { executionId } = trace;
  const context = useMemo(
    () => ({
      source: payloads,
      place: { step: step.number, execution: executionId, agent },
    }),
    [payloads, step.number, executionId, agent],
  );
  return (
    <PayloadContext value={context}>
      {tab === 'model' ? (
        <ModelCallPane key={step.number} step={step} />
      ) : tab === 'tools' ? (
        <ToolCallsPane key={step.number} step={step} view={view} />
      ) : (
        <RawPane key={step.number} />
      )}
    </PayloadContext>
  );
}
