import { useContext, type ReactElement } from 'react';
import { durationText } from '../../number-text.ts';
import type { ToolCallDocument, ToolCallsDocument } from '../../trace/index.ts';
import type { TraceBar, TraceStep } from '../../trace/trace.ts';
import type { TraceViewProps } from '../contract.ts';
import { Glyph, type GlyphName } from '../glyphs.tsx';
import { AgentCard, StepAgents } from '../trace/step-agents.tsx';
import { ApprovalView } from './approval-view.tsx';
import { Problem, Skeleton } from './pane-states.tsx';
import { PayloadBlock, PayloadBody, CopyPayload } from './payload-body.tsx';
import { PayloadContext } from './payload-context.ts';
import { Files } from './request-view.tsx';
import { RedactedText } from './redacted-text.tsx';
import { usePayload } from './use-payload.ts';

interface ToolCallsProps {
  readonly step: TraceStep;
  readonly view: TraceViewProps;
}

/** Renders the tool calls of a step. Calls that failed come first and are open. */
export function ToolCallsPane({ step, view }: ToolCallsProps): ReactElement {
  const { source, place } = useContext(PayloadContext);
  const settled = step.bars.filter(({ state }) => state !== 'running').length;
  const key = `${JSON.stringify(place)} ${step.type} ${settled}`;
  const { value, problem, retry } = usePayload<ToolCallsDocument>(key, (signal) =>
    source === null
      ? Promise.reject(new Error('nothing to read'))
      : source.toolCalls(place, signal),
  );
  // the trace has the agents, whatever can be read
  const agents = <StepAgents step={step} view={view} />;
  if (problem)
    return (
      <>
        <Problem message={problem.message} onRetry={retry} />
        {agents}
      </>
    );
  if (value === null) return <Skeleton />;
  if (value.status === 'pruned')
    return (
      <>
        <p className="payload-note">
          {step.type === 'running'
            ? 'The calls appear when the model has answered.'
            : 'The calls were pruned: this step is not in the store any more.'}
        </p>
        {agents}
      </>
    );
  if (value.calls.length === 0)
    return <p className="payload-note">The model called no tool in this step.</p>;
  const failed = value.calls.filter(hasFailed);
  const others = value.calls.filter((call) => !hasFailed(call));
  const isOnly = value.calls.length === 1;
  return (
    <div className="tool-calls">
      {[...failed, ...others].map((call) => {
        const bar = step.bars.find(({ callId }) => callId === call.callId) ?? null;
        return (
          <CallView
            key={call.callId}
            call={call}
            bar={bar}
            step={step.number}
            view={view}
            isOpen={isOnly || hasFailed(call) || bar?.child !== undefined}
          />
        );
      })}
    </div>
  );
}

/** Whether a call ended otherwise than the model asked for, without a decision of a person. */
const hasFailed = ({ kind }: ToolCallDocument): boolean =>
  kind === 'error' || kind === 'timeout' || kind === 'blocked';

const kindTexts: Readonly<Record<ToolCallDocument['kind'], string>> = {
  ok: '',
  error: 'failed',
  denied: 'denied',
  aborted: 'interrupted',
  blocked: 'blocked',
  timeout: 'timed out',
  open: '',
};

const kindGlyphs: Readonly<Record<ToolCallDocument['kind'], GlyphName>> = {
  ok: 'done',
  error: 'failed',
  denied: 'cancelled',
  aborted: 'cancelled',
  blocked: 'stopped',
  timeout: 'failed',
  open: 'working',
};

interface CallProps {
  readonly call: ToolCallDocument;
  readonly bar: TraceBar | null;
  readonly step: number;
  readonly view: TraceViewProps;
  readonly isOpen: boolean;
}

function CallView({ call, bar, step, view, isOpen }: CallProps): ReactElement {
  const { tool, kind, durationMs, error, args, result, seen, approval, attempts, files } = call;
  // the call may have ended, and its step not
  const isWaiting = kind === 'open' && bar?.state === 'waiting';
  const words = [
    approval ? approval.decision : '',
    isWaiting ? (bar?.asks ? 'needs an answer' : 'needs approval') : kindTexts[kind],
  ].filter(Boolean);
  const time = durationMs ?? bar?.durationMs;
  return (
    <details className="tool-call" data-kind={kind} open={isOpen}>
      <summary>
        <Glyph name="chevron" size={10} />
        <Glyph name={isWaiting ? 'paused' : kindGlyphs[kind]} size={14} />
        <code>{tool}</code>
        <span className="tool-call-args">
          <RedactedText text={argsLine(args.text)} />
        </span>
        <span className="tool-call-words">{[...new Set(words)].join(', ')}</span>
        {time !== undefined && !isWaiting && <span>{durationText(time)}</span>}
      </summary>
      <div className="tool-call-body">
        {error && (
          <section className="payload-block">
            <header>
              <h4>Error</h4>
              <CopyPayload
                payload={{ text: error.message, characters: error.message.length, lines: 1 }}
                what="error"
              />
            </header>
            <div className="tool-call-error">
              <p>
                <b>{kind === 'timeout' ? 'Timed out.' : `${error.code}.`}</b>{' '}
                <RedactedText text={error.message} />
              </p>
              {seen && (
                <div>
                  The model saw: <PayloadBody payload={seen} />
                </div>
              )}
            </div>
          </section>
        )}
        {approval && (
          <ApprovalView
            approval={approval}
            edits={call.edits ?? []}
            waitedMs={bar?.pausedMs ?? 0}
          />
        )}
        {bar?.child && <AgentCard call={bar} step={step} view={view} />}
        {result && <PayloadBlock name="Result" payload={result} />}
        <Files files={files} />
        <PayloadBlock name="Arguments" payload={args} />
        {seen && !error && <PayloadBlock name="What the model saw" payload={seen} isCode={false} />}
        {attempts.length > 1 && (
          <Attempts attempts={attempts} callId={call.callId} onOpen={view.onSelect} />
        )}
      </div>
    </details>
  );
}

/** Returns arguments in one line: the values, which differ between calls of one tool. */
function argsLine(text: string): string {
  try {
    const args = JSON.parse(text) as unknown;
    if (typeof args !== 'object' || args === null) return text;
    const values = Object.values(args).map((value) =>
      typeof value === 'string' ? value : JSON.stringify(value),
    );
    return values.join(', ').slice(0, 120);
  } catch {
    return text.replaceAll(/\s+/g, ' ').slice(0, 120);
  }
}

function Attempts({
  attempts,
  callId,
  onOpen,
}: {
  readonly attempts: ToolCallDocument['attempts'];
  readonly callId: string;
  readonly onOpen: (step: number) => void;
}): ReactElement {
  return (
    <section className="payload-attempts" aria-label="Attempts">
      <h4>Attempts</h4>
      <ul>
        {attempts.map((attempt, i) => (
          <li key={attempt.callId}>
            <Glyph name={kindGlyphs[attempt.kind]} size={14} />
            <span>
              <b>Step {attempt.step}</b>
              {kindTexts[attempt.kind] !== '' && ` ${kindTexts[attempt.kind]}`}
              {i > 0 && `, retry ${i}`}
              {i > 0 && (attempt.hasSameArgs ? ', same arguments' : ', other arguments')}{' '}
              {attempt.callId !== callId && (
                <button
                  type="button"
                  className="payload-link"
                  aria-label={`Open step ${attempt.step}`}
                  onClick={() => onOpen(attempt.step)}
                >
                  Open
                </button>
              )}
            </span>
            {attempt.durationMs !== null && (
              <span className="muted">{durationText(attempt.durationMs)}</span>
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}
