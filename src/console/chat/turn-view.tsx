import { memo, type MemoExoticComponent, type ReactElement, type ReactNode } from 'react';
import type { SessionAction } from '../../ui/sources/session-actions.ts';
import { CutNote, useWhole } from '../../react/cut-note.tsx';
import type { ConversationRow } from '../../react/conversation-rows.ts';
import { ReasoningView } from '../../react/reasoning-view.tsx';
import { clockText } from '../calendar.ts';
import { Glyph } from '../glyphs.tsx';
import { CompactionNote } from './compaction-note.tsx';
import { CallGroup, FailureGroup } from './call-group.tsx';
import { Markdown } from './markdown.tsx';
import { stopNote } from './stop-note.ts';
import type { TurnFacts } from './trace-facts.ts';
import { turnItems, type GrantedLine, type TurnItem } from './turn-items.ts';
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
  /** Whether the end of the turn is shown below: then the stop line is omitted. */
  readonly stoppedAt: string | null;
  readonly granted: readonly GrantedLine[];
  readonly onRetry: (actionId: string) => void;
  readonly onEdit: (actionId: string, text: string) => void;
  readonly onOpenStep: (step: number) => void;
  /** Content after the last row: approvals, or why it ended. */
  readonly children?: ReactNode;
}

export const TurnView: MemoExoticComponent<(props: TurnViewProps) => ReactElement> = memo(
  function TurnView(props: TurnViewProps): ReactElement {
    const { turn, number, facts, day, stoppedAt, onOpenStep, children } = props;
    const { user } = turn;
    const at = new Date(user?.message.timestamp ?? turn.rows[0]?.message.timestamp ?? '');
    const open = facts.isNewest ? onOpenStep : null;
    const isEndShown = (item: TurnItem): boolean =>
      item.kind === 'stop' && item.message.timestamp === stoppedAt;
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
        {turnItems(turn.rows, facts, props.granted).map((item) =>
          isEndShown(item) ? null : (
            <ItemView key={item.key} item={item} onOpenStep={open} isLive={props.isLive} />
          ),
        )}
        {children}
      </section>
    );
  },
);

interface ItemViewProps {
  readonly item: TurnItem;
  readonly isLive: boolean;
  readonly onOpenStep: ((step: number) => void) | null;
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
    case 'failures':
      return <FailureGroup failures={item.failures} onOpenStep={onOpenStep} />;
    case 'granted':
      return (
        <p className="granted">
          <Glyph name="go" size={14} />
          {item.line.text}
        </p>
      );
    case 'compaction':
      return <CompactionNote message={item.message} />;
    default: {
      const { content, metadata } = item.message;
      const isNow = metadata.status_type !== 'error';
      const { glyph, text } =
        item.kind === 'stop'
          ? stopNote(item.message)
          : { glyph: isNow ? ('working' as const) : ('failed' as const), text: content };
      return (
        <p className="status-line" data-kind={metadata.status_type}>
          <Glyph name={glyph} size={14} />
          <span>{text}</span>
        </p>
      );
    }
  }
}

/** Renders the model's text, with a caret while it streams. */
function Said({ row }: { readonly row: ConversationRow }): ReactElement {
  const { message, isStreaming } = row;
  const { whole, status, problem, load } = useWhole(message.metadata.content_ref);
  const text = typeof whole === 'string' ? whole : message.content;
  return (
    <article className="said" aria-label="Assistant" aria-busy={isStreaming || undefined}>
      <Markdown
        text={text}
        isStreaming={isStreaming}
        end={isStreaming ? <span className="caret" aria-hidden="true" /> : null}
      />
      {status !== 'whole' && (
        <CutNote {...{ status, problem, load }} label="Only the beginning is shown." />
      )}
    </article>
  );
}
