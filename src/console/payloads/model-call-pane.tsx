import { useContext, useState, type ReactElement } from 'react';
import { countText, durationText, moneyText } from '../../number-text.ts';
import type { ModelCallDocument, ResponseDocument } from '../../trace/index.ts';
import type { TraceStep } from '../../trace/trace.ts';
import { CopyText } from './copy-text.tsx';
import { PayloadBody } from './payload-body.tsx';
import { PayloadContext } from './payload-context.ts';
import { CalledTool, Files, RequestView } from './request-view.tsx';
import { TokenBar } from './token-bar.tsx';
import { usePayload } from './use-payload.ts';
import { Problem, Skeleton } from './pane-states.tsx';

/** Renders how the model was called: facts, tokens, request and response. */
export function ModelCallPane({ step }: { readonly step: TraceStep }): ReactElement {
  const { source, place } = useContext(PayloadContext);
  const [messages, setMessages] = useState<'new' | 'all'>('new');
  const [from, setFrom] = useState(0);
  const isOpen = step.type === 'running';
  const key = `${JSON.stringify(place)} ${messages} ${from} ${step.type}`;
  const { value, problem, retry } = usePayload(key, (signal) =>
    source === null
      ? Promise.reject(new Error('nothing to read'))
      : source.modelCall(place, { messages, from }, signal),
  );
  return (
    <>
      {value && <Attempts call={value} />}
      <Facts step={step} />
      {step.modelUsage && <TokenBar usage={step.modelUsage} />}
      <CostNote step={step} />
      {isOpen ? (
        <p className="payload-note">The model is answering. Its request appears when it is done.</p>
      ) : problem ? (
        <Problem message={problem.message} onRetry={retry} />
      ) : value === null ? (
        <Skeleton />
      ) : (
        <>
          {value.request ? (
            <RequestView
              request={value.request}
              messages={messages}
              from={from}
              onShow={(which) => {
                setMessages(which);
                setFrom(0);
              }}
              onFrom={setFrom}
            />
          ) : (
            <p className="payload-note">{missing[value.status]}</p>
          )}
          {value.response && <ResponseView response={value.response} />}
        </>
      )}
    </>
  );
}

const missing: Readonly<Record<ModelCallDocument['status'], string>> = {
  stored: '',
  pruned: 'The request was pruned: its step is not in the store any more.',
  not_recorded: 'The request was not recorded, because an earlier release ran this step.',
  not_called: 'This step called no model.',
};

function Facts({ step }: { readonly step: TraceStep }): ReactElement {
  const { modelCall, model, finishReason, cost } = step;
  const bar = step.bars.find(({ kind }) => kind === 'model');
  const requestId = modelCall?.requestId;
  const name = modelCall?.model ?? model;
  return (
    <dl className="model-facts">
      <Fact name="Model" isWide>
        {name === undefined ? <span className="muted">not reported</span> : <code>{name}</code>}
      </Fact>
      <Fact name="Request ID" isWide>
        {requestId === undefined ? (
          <span className="muted">not reported</span>
        ) : (
          <>
            <code>{requestId}</code>
            <CopyText text={() => requestId} what="request ID" isIcon />
          </>
        )}
      </Fact>
      <Fact name="First token">
        {modelCall?.firstTokenMs === undefined ? '–' : durationText(modelCall.firstTokenMs)}
      </Fact>
      <Fact name="Total">{bar ? durationText(bar.durationMs) : '–'}</Fact>
      <Fact name="Finish">
        {finishReason === null ? '–' : <code>{modelCall?.rawFinishReason ?? finishReason}</code>}
      </Fact>
      <Fact name="Cost">{cost === null ? 'unknown' : moneyText(cost)}</Fact>
    </dl>
  );
}

function Fact({
  name,
  children,
  isWide = false,
}: {
  readonly name: string;
  readonly children: ReactElement | string | null;
  readonly isWide?: boolean;
}): ReactElement {
  return (
    <div data-wide={isWide || undefined}>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

/** Says in one sentence why a call cost more than it would have with the cache. */
function CostNote({ step }: { readonly step: TraceStep }): ReactElement | null {
  const { modelUsage, compactionUsage } = step;
  if (!modelUsage) return null;
  const { input, cachedInput, cacheWrite = 0 } = modelUsage;
  const texts = [
    ...(compactionUsage && compactionUsage.total > 0
      ? [`A summary before this call used ${countText(compactionUsage.total)} tokens more.`]
      : []),
    ...(input > 2_000 && cacheWrite > input / 2 && cachedInput < input / 2
      ? ['Most of this prompt was written to the cache, which costs more than reading it once.']
      : []),
  ];
  return texts.length === 0 ? null : <p className="payload-note">{texts.join(' ')}</p>;
}

function Attempts({ call }: { readonly call: ModelCallDocument }): ReactElement | null {
  if (call.attempts.length < 2) return null;
  return (
    <section className="payload-attempts" aria-label="Attempts">
      <h4>Attempts</h4>
      <ul>
        {call.attempts.map(({ step, model, error, requestId, durationMs }) => (
          <li key={step} data-bad={error !== null || undefined}>
            <span>
              Step {step}
              {model !== null && (
                <>
                  {' '}
                  <code>{model}</code>
                </>
              )}
              {error !== null && (
                <b>
                  {' '}
                  {error.message}
                  {error.status !== undefined && ` (${error.status})`}
                </b>
              )}
              {requestId !== null && (
                <>
                  {' '}
                  <code className="muted">{requestId}</code>
                </>
              )}
            </span>
            <span className="muted">{durationText(durationMs)}</span>
          </li>
        ))}
      </ul>
    </section>
  );
}

function ResponseView({ response }: { readonly response: ResponseDocument }): ReactElement {
  const { content, reasoning, calls, files, isCut } = response;
  return (
    <section className="payload-part" aria-label="Response">
      <header>
        <h4>Response</h4>
        {isCut && <span className="muted">interrupted</span>}
      </header>
      {reasoning && (
        <details className="payload-fold" open>
          <summary>Reasoning</summary>
          <div className="payload-thought">
            <PayloadBody payload={reasoning} />
          </div>
        </details>
      )}
      <div className="payload-message">
        {content && <PayloadBody payload={content} />}
        <Files files={files} />
        {calls.map((call) => (
          <CalledTool key={call.id} call={call} />
        ))}
        {!content && calls.length === 0 && files.length === 0 && (
          <p className="muted">The answer is empty.</p>
        )}
      </div>
    </section>
  );
}
