import { useState, type ReactElement, type ReactNode } from 'react';
import { SummaryView } from '../../react/summary-view.tsx';
import { failureText } from '../../continuation/model-failure.ts';
import { eventText } from '../../ui/event-text.ts';
import type { UiEvent, UiMessage } from '../../ui/ui-message.ts';
import { clockText } from '../calendar.ts';
import type { OpenStep } from '../contract.ts';
import { Glyph, type GlyphName } from '../glyphs.tsx';
import { chatHref } from '../route.ts';

export interface EventLineProps {
  readonly message: UiMessage;
  readonly onOpenStep: OpenStep | null;
}

const glyphs: Readonly<Record<UiEvent['kind'], GlyphName>> = {
  stop: 'stopped',
  grant: 'go',
  fallback: 'swap',
  failed_call: 'waiting',
  settings: 'settings',
  fork: 'fork',
};

/** Renders something that happened between messages: a glyph, one sentence, one link and the time. */
export function EventLine({ message, onOpenStep }: EventLineProps): ReactElement {
  const { content, timestamp, metadata } = message;
  const { event, continuation, execution_id: executionId = null } = metadata;
  if (metadata.compaction) return <CompactionLine message={message} />;
  const isCancelled = continuation?.stop_reason === 'user_requested';
  const hasFailed = metadata.status_type === 'error';
  const kind = event?.kind ?? 'stop';
  const glyph = isCancelled ? 'cancelled' : hasFailed ? 'failed' : glyphs[kind];
  return (
    <Line
      kind={kind}
      glyph={glyph}
      timestamp={timestamp}
      link={event && <EventLink {...{ event, executionId, onOpenStep }} />}
    >
      {event ? <EventWords event={event} /> : (continuation?.reason ?? content)}
    </Line>
  );
}

function Line(props: {
  readonly kind: string;
  readonly glyph: GlyphName;
  readonly timestamp: string;
  readonly link?: ReactNode;
  readonly children: ReactNode;
}): ReactElement {
  const at = new Date(props.timestamp);
  return (
    <p className="event" data-kind={props.kind}>
      <Glyph name={props.glyph} size={14} />
      <span className="event-words">
        <span dir="auto">{props.children}</span> {props.link}
      </span>
      {!Number.isNaN(at.getTime()) && <time dateTime={props.timestamp}>{clockText(at)}</time>}
    </p>
  );
}

/** Names models here, because the reader of the console knows them. */
function EventWords({ event }: { readonly event: UiEvent }): ReactNode {
  if (event.kind !== 'fallback' || event.from === '') return eventText(event);
  const { from, to, code } = event;
  const words = failureText({ model: '', code, message: code }).trim();
  return (
    <>
      <code>{from}</code> {words}. Continued with <code>{to}</code>.
    </>
  );
}

const linkTexts: Partial<Readonly<Record<UiEvent['kind'], string>>> = {
  stop: 'View decision',
  fallback: 'Details',
  failed_call: 'Details',
  settings: 'View changes',
};

function EventLink(
  props: Pick<EventLineProps, 'onOpenStep'> & {
    readonly event: UiEvent;
    readonly executionId: string | null;
  },
): ReactElement | null {
  const { event, executionId, onOpenStep } = props;
  if (event.kind === 'fork')
    return (
      <a className="chat-link" href={chatHref(event.session_id)}>
        Open the original
      </a>
    );
  const text = linkTexts[event.kind];
  if (text === undefined || !onOpenStep || !('step' in event)) return null;
  return (
    <button type="button" className="chat-link" onClick={() => onOpenStep(event.step, executionId)}>
      {text}
    </button>
  );
}

/** Says what the model is no longer sent, and shows the summary. The messages themselves stay in the chat. */
function CompactionLine({ message }: { readonly message: UiMessage }): ReactElement {
  const { content, timestamp, metadata } = message;
  const [isOpen, setOpen] = useState(false);
  const { content_ref: ref } = metadata;
  return (
    <div className="compaction">
      <Line
        kind="compaction"
        glyph="compact"
        timestamp={timestamp}
        link={
          ref !== undefined && (
            <button
              type="button"
              className="chat-link"
              aria-expanded={isOpen}
              onClick={() => setOpen(!isOpen)}
            >
              {isOpen ? 'Hide summary' : 'View summary'}
            </button>
          )
        }
      >
        {content}
      </Line>
      {isOpen && ref !== undefined && <SummaryView contentRef={ref} isOpen />}
    </div>
  );
}
