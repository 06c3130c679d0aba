import { memo, type MemoExoticComponent, type ReactElement } from 'react';
import { textBeside } from '../ui/files-text.ts';
import { shouldRenderAssistantContent } from '../ui/message-rules.ts';
import type { SessionAction } from '../ui/sources/session-actions.ts';
import type { UiEvent, UiMessage, UiStatusType } from '../ui/ui-message.ts';
import { Glyph, type GlyphName } from './glyph.tsx';
import { part } from './part.ts';
import { ReasoningView } from './reasoning-view.tsx';
import { ToolCalls, type ToolCallItem } from './tool-calls.tsx';
import { ToolFiles } from './tool-files.tsx';
import { SummaryView } from './summary-view.tsx';
import { CutNote, useWhole } from './cut-note.tsx';
import { useUi } from './ui-context.ts';

export interface MessageViewProps {
  readonly message: UiMessage;
  /** Calls of the message with their states. */
  readonly calls: readonly ToolCallItem[];
  /** Whether more text may arrive. */
  readonly isStreaming: boolean;
  /** Send action of a user message, until the server has the message. */
  readonly action: SessionAction | null;
  readonly onRetry?: (actionId: string) => unknown;
  readonly onDismiss?: (actionId: string) => void;
}

const glyphs: Readonly<Record<UiStatusType, GlyphName>> = {
  thinking: 'working',
  tool_call: 'working',
  tool_result: 'done',
  error: 'failed',
  info: 'idle',
  waiting: 'working',
  continuation: 'go',
};

const eventGlyphs: Readonly<Record<UiEvent['kind'], GlyphName>> = {
  stop: 'stopped',
  grant: 'go',
  fallback: 'swap',
  failed_call: 'waiting',
  settings: 'idle',
  fork: 'idle',
};

/** Renders one message: its text and its calls. */
export const MessageView: MemoExoticComponent<(props: MessageViewProps) => ReactElement> = memo(
  function MessageView(props: MessageViewProps): ReactElement {
    const { message, calls, isStreaming } = props;
    const { labels } = useUi();
    if (message.role === 'status') return <StatusLine message={message} />;
    const isUser = message.role === 'user';
    const { reasoning } = message.metadata;
    return (
      <article
        {...part('message')}
        data-role={message.role}
        data-streaming={isStreaming || undefined}
        data-pending={message.metadata.pending}
        aria-label={isUser ? labels.you : labels.assistant}
      >
        {reasoning && <ReasoningView text={reasoning} isStreaming={isStreaming} />}
        {(isUser || shouldRenderAssistantContent(message)) && <MessageText message={message} />}
        {calls.length > 0 && <ToolCalls calls={calls} />}
        {isUser && message.metadata.files && <ToolFiles files={message.metadata.files} />}
        {isUser && <Delivery {...props} />}
      </article>
    );
  },
);

/** Renders plain text with its line breaks; HTML in it stays text. */
function MessageText({ message }: { readonly message: UiMessage }): ReactElement | null {
  const { labels, renderText } = useUi();
  const { whole, status, problem, load } = useWhole(message.metadata.content_ref);
  const text = typeof whole === 'string' ? whole : textBeside(message);
  if (text === '') return null;
  return (
    <>
      <div {...part('text')} dir="auto" style={renderText ? undefined : { whiteSpace: 'pre-wrap' }}>
        {renderText ? renderText(text) : text}
      </div>
      {status !== 'whole' && <CutNote {...{ status, problem, load }} label={labels.cut} />}
    </>
  );
}

function StatusLine({ message }: { readonly message: UiMessage }): ReactElement {
  const { labels } = useUi();
  const { status_type: type = 'info', compaction, event, content_ref: ref } = message.metadata;
  const glyph = event ? eventGlyphs[event.kind] : compaction ? 'compact' : glyphs[type];
  return (
    <>
      <p {...part('status-line')} data-type={type} data-event={event?.kind}>
        <Glyph name={type === 'error' ? 'failed' : glyph} />
        <span dir="auto">{event ? labels.event(event) : message.content}</span>
      </p>
      {compaction && ref !== undefined && <SummaryView contentRef={ref} />}
    </>
  );
}

function Delivery({ action, onRetry, onDismiss }: MessageViewProps): ReactElement | null {
  const { labels } = useUi();
  if (action?.status !== 'failed') return null;
  return (
    <p {...part('problem')} role="alert">
      <Glyph name="failed" />
      <span>{labels.notSent(action.error?.message ?? '')}</span>
      <button type="button" {...part('link')} onClick={() => onRetry?.(action.id)}>
        {labels.retry}
      </button>
      <button type="button" {...part('link')} onClick={() => onDismiss?.(action.id)}>
        {labels.discard}
      </button>
    </p>
  );
}
