import { memo, type MemoExoticComponent, type ReactElement, type ReactNode } from 'react';
import type { SessionAction } from '../../ui/sources/session-actions.ts';
import { CutNote, useWhole } from '../../react/cut-note.tsx';
import type { ConversationRow } from '../../react/conversation-rows.ts';
import { ReasoningView } from '../../react/reasoning-view.tsx';
import { clockText } from '../calendar.ts';
import type { OpenStep } from '../contract.ts';
import { Glyph } from '../glyphs.tsx';
import { CallGroup } from './call-group.tsx';
import { EventLine } from './event-line.tsx';
import { Folded } from './folded.tsx';
import { Markdown } from './markdown.tsx';
import type { TurnFacts } from './trace-facts.ts';
import { turnItems, type TurnItem } from './turn-items.ts';
import type { Turn } from './turns.ts';
import { UserMessage } from './user-message.tsx';

export interface TurnViewProps {
  readonly turn: Turn;
  readonly number: number;
  readonly facts: TurnFacts;
  /** Time above the turn, such as "Today, 14:04"; null if none is needed. */
  readonly day: string | null;
  /** Send action of the message, until the server has it. */
  readonly delivery: SessionAction | null;
  readonly isQueued: boolean;
  /** Whether the step numbers are still loading. */
  readonly isLive: boolean;
  /** Whether the end of the turn is shown below: then its last row, if it is a stop, is omitted. */
  readonly isEndBelow: boolean;
  readonly onRetry: (actionId: string) => void;
  readonly onEdit: (actionId: string, text: string) => void;
  readonly onOpenStep: OpenStep;
  /** Content after the last row: approvals, or why it ended. */
  readonly children?: ReactNode;
}

export const TurnView: MemoExoticComponent<(props: TurnViewProps) => ReactElement> = memo(
  function TurnView(props: TurnViewProps): ReactElement {
    const { turn, number, facts, day, isEndBelow, onOpenStep, children } = props;
    const { user } = turn;
    const at = new Date(user?.message.timestamp ?? turn.rows[0]?.message.timestamp ?? '');
    const items = turnItems(turn.rows, facts);
    const shown = isEndBelow && isStop(items.at(-1)) ? items.slice(0, -1) : items;
    return (
      <section className="turn">
        {day !== null && <p className="day">{day}</p>}
        <h2 className="visually-hidden">
          {`Turn ${number}${Number.isNaN(at.getTime()) ? '' : `, ${clockText(at)}`}`}
        </h2>
        {user && (
          <UserMessage
            row={user}
            delivery={props.delivery}
            isQueued={props.isQueued}
            onRetry={props.onRetry}
            onEdit={props.onEdit}
          />
        )}
        {shown.map((item) => (
          <ItemView key={item.key} item={item} onOpenStep={onOpenStep} isLive={props.isLive} />
        ))}
        {children}
      </section>
    );
  },
);

interface ItemViewProps {
  readonly item: TurnItem;
  readonly isLive: boolean;
  readonly onOpenStep: OpenStep;
}

function ItemView({ item, onOpenStep, isLive }: ItemViewProps): ReactElement {
  switch (item.kind) {
    case 'text':
      return <Said row={item.row} />;
    case 'reasoning':
      return (
        <ReasoningView
          text={item.row.message.metadata.reasoning ?? ''}
          isStreaming={item.row.isStreaming}
        />
      );
    case 'calls':
      return <CallGroup item={item} onOpenStep={onOpenStep} isLive={isLive} />;
    case 'event':
    case 'compaction':
      return <EventLine message={item.message} onOpenStep={onOpenStep} />;
    default: {
      const { content, metadata } = item.message;
      const hasFailed = metadata.status_type === 'error';
      return (
        <p className="status-line" data-kind={metadata.status_type}>
          <Glyph name={hasFailed ? 'failed' : 'working'} size={14} />
          <span dir="auto">{content}</span>
        </p>
      );
    }
  }
}

const isStop = (item: TurnItem | undefined): boolean =>
  item?.kind === 'event' && item.message.metadata.continuation !== undefined;

/** Renders the model's text, with a caret while it streams. */
function Said({ row }: { readonly row: ConversationRow }): ReactElement {
  const { message, isStreaming } = row;
  const { whole, status, problem, load } = useWhole(message.metadata.content_ref);
  const text = typeof whole === 'string' ? whole : message.content;
  return (
    <article className="said" aria-label="Assistant" aria-busy={isStreaming || undefined}>
      <Folded text={text} isStreaming={isStreaming}>
        <Markdown
          text={text}
          isStreaming={isStreaming}
          end={isStreaming ? <span className="caret" aria-hidden="true" /> : null}
        />
      </Folded>
      {status !== 'whole' && (
        <CutNote {...{ status, problem, load }} label="Only the beginning is shown." />
      )}
    </article>
  );
}
