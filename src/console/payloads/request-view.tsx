import { Fragment, useState, type ReactElement, type ReactNode } from 'react';
import { fileText } from '../../file-facts.ts';
import { counted, countText, moneyText } from '../../number-text.ts';
import type {
  ModelCallDocument,
  PayloadCall,
  RequestMessage,
  RequestPart,
} from '../../trace/index.ts';
import { Glyph } from '../glyphs.tsx';
import { CopyPayload, PayloadBody } from './payload-body.tsx';

type Request = NonNullable<ModelCallDocument['request']>;

interface RequestViewProps {
  readonly request: Request;
  readonly messages: 'new' | 'all';
  readonly from: number;
  readonly onShow: (messages: 'new' | 'all') => void;
  readonly onFrom: (from: number) => void;
}

/** Renders a request: what did not change is folded, what is new has a bar. */
export function RequestView(props: RequestViewProps): ReactElement {
  const { request, messages, from, onShow, onFrom } = props;
  const { tokens, since, system, tools, format, toolChoice } = request;
  const { items, next, count } = request.messages;
  return (
    <section className="payload-part" aria-label="Request">
      <header>
        <h4>Request</h4>
        <span className="muted">about {countText(tokens)} tokens</span>
        {since && (
          <div className="payload-switch" role="group" aria-label="Messages">
            {(['new', 'all'] as const).map((which) => (
              <button
                key={which}
                type="button"
                aria-pressed={messages === which}
                onClick={() => onShow(which)}
              >
                {which === 'new' ? 'New only' : 'All'}
              </button>
            ))}
          </div>
        )}
      </header>
      {system && <Part name="System prompt" part={system} since={since} isCode={false} />}
      {tools && (
        <Part name={`${counted(tools.count, 'tool')} offered`} part={tools} since={since}>
          <p className="payload-chips">
            {tools.names.map((name) => (
              <code key={name}>{name}</code>
            ))}
          </p>
        </Part>
      )}
      {toolChoice !== 'auto' && (
        <p className="payload-note">
          Tool choice: <code>{toolChoice}</code>
        </p>
      )}
      {format && (
        <details className="payload-fold">
          <summary>Response format</summary>
          <PayloadBody payload={format} isCode />
        </details>
      )}
      {from > 0 && (
        <button type="button" className="payload-more" onClick={() => onFrom(0)}>
          Back to the first messages
        </button>
      )}
      <ol className="payload-messages">
        {items.map((message, i) => (
          <Fragment key={message.index}>
            <Unchanged
              count={message.index - (i === 0 ? from : (items[i - 1]?.index ?? 0) + 1)}
              since={since?.step ?? null}
              onShow={() => onShow('all')}
            />
            {message.compaction ? (
              <Compacted message={message} />
            ) : (
              <MessageView message={message} />
            )}
          </Fragment>
        ))}
        {next === null && (
          <Unchanged
            count={count - ((items.at(-1)?.index ?? from - 1) + 1)}
            since={since?.step ?? null}
            onShow={() => onShow('all')}
          />
        )}
      </ol>
      {next !== null && (
        <button type="button" className="payload-more" onClick={() => onFrom(next)}>
          Show the next of {counted(count, 'message')}
        </button>
      )}
    </section>
  );
}

/** Renders messages that the call before had too, as one line. */
function Unchanged({
  count,
  since,
  onShow,
}: {
  readonly count: number;
  readonly since: number | null;
  readonly onShow: () => void;
}): ReactElement | null {
  if (count <= 0) return null;
  return (
    <li>
      <button type="button" className="payload-unchanged" onClick={onShow}>
        <Glyph name="chevron" size={10} />
        {counted(count, 'message')} unchanged{since !== null && ` since step ${since}`}
      </button>
    </li>
  );
}

function Part({
  name,
  part,
  since,
  isCode = true,
  children,
}: {
  readonly name: string;
  readonly part: RequestPart;
  readonly since: Request['since'];
  readonly isCode?: boolean;
  readonly children?: ReactNode;
}): ReactElement {
  const [isOpen, setOpen] = useState(false);
  const { change, tokens, content } = part;
  const words =
    change === 'first' || since === null
      ? ''
      : change === 'unchanged'
        ? ' · unchanged'
        : ` · changed since step ${since.step}`;
  return (
    <details
      className="payload-fold"
      data-change={change}
      onToggle={(event) => setOpen(event.currentTarget.open)}
    >
      <summary>
        <span>{name}</span>
        <span className="payload-fold-fact">
          {countText(tokens)} tokens{words}
        </span>
      </summary>
      {isOpen && (
        <>
          {children}
          <PayloadBody payload={content} isCode={isCode} />
        </>
      )}
    </details>
  );
}

/** Renders what stands for messages that the model is no longer sent. */
function Compacted({ message }: { readonly message: RequestMessage }): ReactElement | null {
  const { compaction, content } = message;
  if (!compaction) return null;
  const { messages, tokensBefore, tokensAfter, model, cost } = compaction;
  return (
    <li>
      <details className="payload-fold payload-compacted">
        <summary>
          <Glyph name="folded" size={14} />
          <span>
            <b>{counted(messages, 'message')} summarized</b>: {countText(tokensBefore)} →{' '}
            {countText(tokensAfter)} tokens
          </span>
        </summary>
        <p className="payload-note">
          The model got this instead
          {model !== null && (
            <>
              , written by <code>{model}</code>
            </>
          )}
          {cost !== null && cost > 0 && ` for ${moneyText(cost)}`}. The chat has the originals.
        </p>
        {content && <PayloadBody payload={content} />}
      </details>
    </li>
  );
}

function MessageView({ message }: { readonly message: RequestMessage }): ReactElement {
  const { role, name, callId, tokens, isNew, step, content, reasoning, calls, files } = message;
  const facts = [
    ...(name === null ? [] : [name]),
    ...(callId === null ? [] : [callId]),
    ...(step === null ? [] : [`step ${step}`]),
    `${countText(tokens)} tokens`,
  ];
  return (
    <li className="payload-message" data-new={isNew || undefined}>
      <header>
        <b>{role}</b>
        <span className="muted">{facts.join(' · ')}</span>
        {isNew && <span className="payload-new">+ New</span>}
        {content && <CopyPayload payload={content} what={`message ${message.index + 1}`} />}
      </header>
      {reasoning && (
        <details className="payload-fold">
          <summary>Reasoning</summary>
          <PayloadBody payload={reasoning} />
        </details>
      )}
      {message.isLeftOut && (
        <p className="payload-note">A long result, left out. The model got this note instead.</p>
      )}
      {content && <PayloadBody payload={content} isCode={role === 'tool'} />}
      <Files files={files} />
      {calls.map((call) => (
        <CalledTool key={call.id} call={call} />
      ))}
    </li>
  );
}

export function CalledTool({ call }: { readonly call: PayloadCall }): ReactElement {
  return (
    <div className="payload-called">
      <Glyph name="arrow" size={11} />
      <code>{call.name}</code>
      <PayloadBody payload={call.args} isCode />
    </div>
  );
}

export function Files({ files }: { readonly files: RequestMessage['files'] }): ReactElement | null {
  if (files.length === 0) return null;
  return (
    <ul className="payload-files">
      {files.map((file, i) => (
        // oxlint-disable-next-line react/no-array-index-key -- files have no id
        <li key={i}>{fileText(file)}</li>
      ))}
    </ul>
  );
}
