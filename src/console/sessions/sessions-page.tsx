import { useCallback, useEffect, useMemo, useRef, useState, type ReactElement } from 'react';
import { counted, countText } from '../../number-text.ts';
import type { BulkAction, ListedSession } from '../api-client.ts';
import { EmptyState, Problem } from '../empty-state.tsx';
import { Glyph } from '../glyphs.tsx';
import { PageTools } from '../page-tools.tsx';
import type { PageProps } from '../pages.ts';
import { go, pageHref } from '../route.ts';
import { useKeys } from '../use-keys.ts';
import { BulkBar } from './bulk-bar.tsx';
import { FilterBar } from './filter-bar.tsx';
import { filtersIn, isFiltered, scopeOf, type ListFilters } from './list-filters.ts';
import { SessionLine, SessionsTable } from './sessions-table.tsx';
import { useListed, type ListedGroups } from './use-listed.ts';
import { useRowKeys } from './use-row-keys.ts';
// oxlint-disable-next-line import/no-unassigned-import -- the styles are loaded with the page
import './sessions.css';

/** Rows of the sessions that need attention before the rest is shown. */
const FEW = 4;

/** Renders all sessions as a table. What it shows is in the address. */
export function SessionsPage({ api, info, route }: PageProps): ReactElement {
  const filters = useMemo(() => filtersIn(route.query), [route.query]);
  const scope = scopeOf(filters);
  const { groups, matches, problem, loadMore, refresh } = useListed(api, filters);
  const change = useCallback(
    (next: Partial<ListFilters>): void =>
      go(pageHref('sessions', { query: { ...filters, ...next } }), 'replace'),
    [filters],
  );
  const [selectedIds, setSelectedIds] = useState<ReadonlySet<string>>(new Set());
  const [isWhole, setWhole] = useState(false);
  const [now, setNow] = useState(() => new Date());
  useEffect(() => setNow(new Date()), [groups?.others.sessions]);
  const search = useRef<HTMLInputElement>(null);

  const shownNeeded = isWhole ? groups?.needed?.sessions : groups?.needed?.sessions.slice(0, FEW);
  const rows = [...(shownNeeded ?? []), ...(groups?.others.sessions ?? [])];
  const selected = rows.filter(({ id }) => selectedIds.has(id));
  const select = (id: string, isSelected: boolean): void =>
    setSelectedIds((before) => {
      const next = new Set(before);
      if (isSelected) next.add(id);
      else next.delete(id);
      return next;
    });
  useKeys({ '/': () => search.current?.focus() });
  useRowKeys((id) => select(id, !selectedIds.has(id)));

  const act = async (action: BulkAction, ids: readonly string[]): Promise<string | null> => {
    try {
      const { done, skipped } = await api.bulk(scope, action, ids.slice(0, 100));
      setSelectedIds((before) => new Set([...before].filter((id) => !done.includes(id))));
      refresh();
      return skipped.length === 0
        ? null
        : `${counted(skipped.length, 'session')} skipped: ${skipped[0]?.message}`;
    } catch (thrown) {
      return thrown instanceof Error ? thrown.message : String(thrown);
    }
  };
  const canOpen = ({ owner }: ListedSession): boolean =>
    owner === undefined || owner === info?.owner;
  const models = [...new Set(rows.flatMap(({ model }) => model ?? []))];
  const line = (session: ListedSession): ReactElement => (
    <SessionLine
      key={session.id}
      session={session}
      match={matches[session.id]}
      hasOwner={scope === 'all'}
      isSelected={selectedIds.has(session.id)}
      onSelect={(isSelected) => select(session.id, isSelected)}
      isOpenable={canOpen(session)}
      now={now}
    />
  );
  return (
    <section className="page sessions-page" aria-label="Sessions" aria-busy={!groups}>
      <PageTools>
        {info?.isOperator && (
          <button
            type="button"
            className="page-mode"
            aria-pressed={scope === 'all'}
            title="Operators see the sessions of all owners, without their titles and conversations"
            onClick={() => change({ all: scope === 'all' ? '' : '1', owner: '', q: '' })}
          >
            <Glyph name="shield" size={13} />
            {scope === 'all' ? 'Admin: all owners' : 'Yours only'}
          </button>
        )}
      </PageTools>
      <FilterBar
        filters={filters}
        onChange={change}
        agents={info?.agents.map(({ name }) => name) ?? []}
        models={models}
        hasOwner={scope === 'all'}
        count={countOf(groups)}
        searchRef={search}
      />
      {problem && !groups && (
        <Problem message={problem.message} code={problem.code} onRetry={refresh} />
      )}
      {!problem && !groups && <Skeleton />}
      {groups && rows.length === 0 && (
        <Nothing filters={filters} hasMore={groups.others.cursor !== null} onClear={change} />
      )}
      {groups && rows.length > 0 && (
        <SessionsTable
          by={filters.by}
          order={filters.order}
          onSort={(by, order) => change({ by: by === 'updated' ? '' : by, order })}
          hasOwner={scope === 'all'}
          isAllSelected={rows.every(({ id }) => selectedIds.has(id))}
          onSelectAll={(all) => setSelectedIds(new Set(all ? rows.map(({ id }) => id) : []))}
        >
          {groups.needed && groups.needed.sessions.length > 0 && (
            <tbody>
              <Heading title="Needs attention" total={groups.needed.total} />
              {shownNeeded?.map(line)}
              {!isWhole && groups.needed.sessions.length > FEW && (
                <More
                  label={`Show ${countText((groups.needed.total ?? 0) - FEW)} more`}
                  onMore={() => setWhole(true)}
                />
              )}
              {isWhole && groups.needed.cursor !== null && (
                <More label="Show more" onMore={() => void loadMore('needed')} />
              )}
            </tbody>
          )}
          <tbody>
            {groups.needed && groups.needed.sessions.length > 0 && (
              <Heading title="All other sessions" total={groups.others.total} />
            )}
            {groups.others.sessions.map(line)}
          </tbody>
        </SessionsTable>
      )}
      {groups?.others.cursor !== null && groups && (
        <div className="sessions-more">
          <button type="button" className="button" onClick={() => void loadMore('others')}>
            {filters.q === '' ? 'Earlier sessions' : 'Search further'}
          </button>
        </div>
      )}
      {selected.length > 0 && (
        <BulkBar
          selected={selected}
          canOpen={canOpen}
          onAction={act}
          onClose={() => setSelectedIds(new Set())}
        />
      )}
    </section>
  );
}

/** Counts end here. */
const MOST = 1_000;

function countOf(groups: ListedGroups | null): string {
  if (!groups) return '';
  const { needed, others } = groups;
  if (others.total === null) return `${counted(others.sessions.length, 'session')} found`;
  const total = others.total + (needed?.total ?? 0);
  return total >= MOST ? `over ${countText(MOST)} sessions` : counted(total, 'session');
}

function Heading({
  title,
  total,
}: {
  readonly title: string;
  readonly total: number | null;
}): ReactElement {
  return (
    <tr className="sessions-heading">
      <th scope="colgroup" colSpan={9}>
        {title}{' '}
        {total !== null && <span>{total >= MOST ? `${countText(MOST)}+` : countText(total)}</span>}
      </th>
    </tr>
  );
}

function More({
  label,
  onMore,
}: {
  readonly label: string;
  readonly onMore: () => void;
}): ReactElement {
  return (
    <tr className="sessions-show">
      <td colSpan={9}>
        <button type="button" className="link-button" onClick={onMore}>
          {label}
        </button>
      </td>
    </tr>
  );
}

function Nothing({
  filters,
  hasMore,
  onClear,
}: {
  readonly filters: ListFilters;
  readonly hasMore: boolean;
  readonly onClear: (change: Partial<ListFilters>) => void;
}): ReactElement {
  if (!isFiltered(filters))
    return (
      <EmptyState
        glyph="list"
        title="No sessions yet"
        action={
          <a className="button" href="#/new">
            New session
          </a>
        }
      >
        <p>Sessions appear here, each with the reason for its status.</p>
      </EmptyState>
    );
  return (
    <EmptyState
      glyph="search"
      title={hasMore ? 'Nothing found so far' : 'No session matches'}
      action={
        <button
          type="button"
          className="button"
          onClick={() => onClear({ ...filtersIn(''), all: filters.all })}
        >
          Clear all
        </button>
      }
    >
      <p>
        {filters.q === ''
          ? 'Sessions that ran last with an earlier version are not found by model, cost and tool errors.'
          : 'Titles, messages, tool names, results and errors are searched, the newest 100 messages of each session.'}
      </p>
    </EmptyState>
  );
}

const widths = [62, 48, 70, 55, 44, 66];

function Skeleton(): ReactElement {
  return (
    <div className="skeleton sessions-skeleton" aria-hidden="true">
      {widths.map((width) => (
        <span key={width} style={{ width: `${width}%` }} />
      ))}
    </div>
  );
}
