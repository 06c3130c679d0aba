import type { ReactElement, ReactNode } from 'react';
import { moneyText, countText } from '../../number-text.ts';
import { statusGlyphs } from '../../react/glyph.tsx';
import type { SessionMatch } from '../../trace/search-sessions.ts';
import type { ListedSession } from '../api-client.ts';
import { Glyph } from '../glyphs.tsx';
import { chatHref, traceHref } from '../route.ts';
import { timeText } from '../session-pages.ts';
import { attentionGlyphs, placeText, whyText } from './attention-text.ts';

export interface SessionsTableProps {
  readonly children: ReactNode;
  readonly by: string;
  readonly order: string;
  readonly onSort: (by: string, order: string) => void;
  readonly hasOwner: boolean;
  readonly isAllSelected: boolean;
  readonly onSelectAll: (isSelected: boolean) => void;
}

const sorts = [
  ['steps', 'Steps'],
  ['cost', 'Cost'],
  ['updated', 'Updated'],
] as const;

export function SessionsTable(props: SessionsTableProps): ReactElement {
  const { by, order, onSort, hasOwner } = props;
  const sorted = by || 'updated';
  const isAscending = order === 'asc';
  return (
    <table className="sessions-table">
      <thead>
        <tr>
          <th scope="col" className="cell-check">
            <input
              type="checkbox"
              aria-label="Select all shown"
              checked={props.isAllSelected}
              onChange={(event) => props.onSelectAll(event.target.checked)}
            />
          </th>
          <th scope="col">Session</th>
          <th scope="col" className="cell-agent">
            Agent
          </th>
          {hasOwner && (
            <th scope="col" className="cell-owner">
              Owner
            </th>
          )}
          <th scope="col" className="cell-model">
            Model
          </th>
          {sorts.map(([name, title]) => (
            <th
              key={name}
              scope="col"
              className={`cell-number cell-${name}`}
              aria-sort={sorted === name ? (isAscending ? 'ascending' : 'descending') : 'none'}
            >
              <button
                type="button"
                onClick={() => onSort(name, sorted === name && !isAscending ? 'asc' : '')}
              >
                {title}
                {sorted === name && (
                  <span className="sort-mark" data-up={isAscending}>
                    <Glyph name="sort" size={11} />
                  </span>
                )}
              </button>
            </th>
          ))}
        </tr>
      </thead>
      {props.children}
    </table>
  );
}

export interface SessionLineProps {
  readonly session: ListedSession;
  readonly match: SessionMatch | undefined;
  readonly hasOwner: boolean;
  readonly isSelected: boolean;
  readonly onSelect: (isSelected: boolean) => void;
  /** Whether the reader may open it: it is their own. */
  readonly isOpenable: boolean;
  readonly now: Date;
}

export function SessionLine(props: SessionLineProps): ReactElement {
  const { session, match, hasOwner, isSelected, onSelect, isOpenable, now } = props;
  const { id, title, status, attention, agent, owner, model, stepCount, cost, updatedAt } = session;
  const name = title ?? (owner === undefined ? 'Untitled' : id);
  return (
    <tr
      data-attention={attention ?? undefined}
      data-status={status}
      data-selected={isSelected}
      data-row={id}
    >
      <td className="cell-check">
        <input
          type="checkbox"
          aria-label={`Select ${name}`}
          checked={isSelected}
          onChange={(event) => onSelect(event.target.checked)}
        />
      </td>
      <td className="cell-session">
        <Glyph name={attention ? attentionGlyphs[attention] : statusGlyphs[status]} size={14} />
        <div>
          {isOpenable ? (
            <a href={chatHref(id)} data-row-link>
              <bdi>{name}</bdi>
            </a>
          ) : (
            <bdi className={title === null ? 'mono' : undefined}>{name}</bdi>
          )}
          <p className="cell-why" dir="auto">
            {whyText(session, now.getTime())}
          </p>
          {match && <Found match={match} sessionId={id} isOpenable={isOpenable} />}
        </div>
      </td>
      <td className="cell-agent">
        <bdi>{agent}</bdi>
      </td>
      {hasOwner && (
        <td className="cell-owner">
          <bdi>{owner}</bdi>
        </td>
      )}
      <td className="cell-model">
        {model === null ? <span className="muted">–</span> : <code>{model}</code>}
      </td>
      <td className="cell-number cell-steps">{countText(stepCount)}</td>
      <td className="cell-number cell-cost">
        {cost === null ? (
          <span className="muted" title="The price of a model is not known">
            –
          </span>
        ) : (
          moneyText(cost)
        )}
      </td>
      <td className="cell-number cell-updated">
        <time dateTime={updatedAt}>{timeText(session, now)}</time>
      </td>
    </tr>
  );
}

/** Renders why a search found the session; the link opens that step. */
function Found({
  match,
  sessionId,
  isOpenable,
}: {
  readonly match: SessionMatch;
  readonly sessionId: string;
  readonly isOpenable: boolean;
}): ReactElement {
  const { place, step, executionId, more } = match;
  const where = placeText(place, step);
  return (
    <p className="cell-match" dir="auto">
      {isOpenable && step !== null ? (
        <a href={traceHref(sessionId, step, executionId)}>{where}</a>
      ) : (
        <span>{where}</span>
      )}{' '}
      “{marked(match)}”{more > 0 && <span> +{countText(more)} more</span>}
    </p>
  );
}

function marked({ text, ranges }: SessionMatch): readonly ReactNode[] {
  const parts: ReactNode[] = [];
  let at = 0;
  for (const [from, to] of ranges) {
    parts.push(text.slice(at, from), <mark key={from}>{text.slice(from, to)}</mark>);
    at = to;
  }
  return [...parts, text.slice(at)];
}
