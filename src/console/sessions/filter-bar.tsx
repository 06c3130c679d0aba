import { useEffect, useState, type ReactElement, type RefObject } from 'react';
import { Glyph } from '../glyphs.tsx';
import { chipNames, choices, isFiltered, valueText, type ListFilters } from './list-filters.ts';

export interface FilterBarProps {
  readonly filters: ListFilters;
  readonly onChange: (change: Partial<ListFilters>) => void;
  /** Names to choose from. */
  readonly agents: readonly string[];
  readonly models: readonly string[];
  readonly hasOwner: boolean;
  /** Number of sessions, in words. */
  readonly count: string;
  readonly searchRef: RefObject<HTMLInputElement | null>;
}

const titles: Readonly<Record<(typeof chipNames)[number], string>> = {
  attention: 'Needs attention',
  status: 'Status',
  agent: 'Agent',
  owner: 'Owner',
  model: 'Model',
  updated: 'Updated',
  cost: 'Cost',
  error: 'Has error',
};

/** Milliseconds after the last key until a search starts. */
const TYPING_MS = 250;

/** Renders the search and the filter chips. Active chips come first on a phone. */
export function FilterBar(props: FilterBarProps): ReactElement {
  const { filters, onChange, agents, models, hasOwner, count, searchRef } = props;
  const shown = chipNames.filter(
    (name) => (name !== 'owner' || hasOwner) && (name !== 'attention' || filters.attention !== ''),
  );
  const options = (name: (typeof chipNames)[number]): readonly string[] =>
    name === 'agent' ? agents : name === 'model' ? models : (choices[name] ?? []);
  return (
    <div className="filters">
      <Search value={filters.q} onSearch={(q) => onChange({ q })} searchRef={searchRef} />
      <div className="filter-chips" role="group" aria-label="Filters">
        {shown.map((name) =>
          name === 'owner' && filters.owner === '' ? (
            <OwnerField key={name} onOwner={(owner) => onChange({ owner })} />
          ) : (
            <Chip
              key={name}
              name={name}
              value={filters[name]}
              options={options(name)}
              onValue={(value) => onChange({ [name]: value })}
            />
          ),
        )}
        {isFiltered(filters) && (
          <button
            type="button"
            className="link-button"
            onClick={() =>
              onChange({ q: '', ...Object.fromEntries(chipNames.map((name) => [name, ''])) })
            }
          >
            Clear all
          </button>
        )}
        <span className="filter-count" role="status">
          {count}
        </span>
      </div>
    </div>
  );
}

function Search({
  value,
  onSearch,
  searchRef,
}: {
  readonly value: string;
  readonly onSearch: (text: string) => void;
  readonly searchRef: RefObject<HTMLInputElement | null>;
}): ReactElement {
  const [typed, setTyped] = useState(value);
  const [seen, setSeen] = useState(value);
  // the address changed: back, or Clear all
  if (seen !== value) {
    setSeen(value);
    setTyped(value);
  }
  useEffect(() => {
    if (typed === value) return;
    const timer = setTimeout(() => onSearch(typed), TYPING_MS);
    return () => clearTimeout(timer);
  }, [typed, value, onSearch]);
  return (
    <div role="search" className="search">
      <Glyph name="search" size={14} />
      <input
        ref={searchRef}
        type="search"
        dir="auto"
        maxLength={200}
        placeholder="Search titles, messages, tools, errors, IDs"
        aria-label="Search"
        aria-keyshortcuts="/"
        value={typed}
        onChange={(event) => setTyped(event.target.value)}
      />
      {typed === '' ? (
        <kbd aria-hidden="true">/</kbd>
      ) : (
        <button
          type="button"
          className="button button-icon button-ghost"
          aria-label="Clear search"
          onClick={() => {
            setTyped('');
            onSearch('');
          }}
        >
          <Glyph name="close" size={11} />
        </button>
      )}
    </div>
  );
}

function Chip({
  name,
  value,
  options,
  onValue,
}: {
  readonly name: (typeof chipNames)[number];
  readonly value: string;
  readonly options: readonly string[];
  readonly onValue: (value: string) => void;
}): ReactElement {
  const all = value === '' || options.includes(value) ? options : [value, ...options];
  return (
    <span className="filter-chip" data-on={value !== ''}>
      <label>
        <span>{titles[name]}</span>
        {value !== '' && <b aria-hidden="true">{valueText(name, value)}</b>}
        {value === '' && <Glyph name="expand" size={11} />}
        <select
          aria-label={titles[name]}
          value={value}
          onChange={(event) => onValue(event.target.value)}
        >
          <option value="">any</option>
          {all.map((option) => (
            <option key={option} value={option}>
              {valueText(name, option)}
            </option>
          ))}
        </select>
      </label>
      {value !== '' && (
        <button type="button" aria-label={`Clear ${titles[name]}`} onClick={() => onValue('')}>
          <Glyph name="close" size={10} />
        </button>
      )}
    </span>
  );
}

function OwnerField({ onOwner }: { readonly onOwner: (owner: string) => void }): ReactElement {
  return (
    <form
      className="filter-chip"
      onSubmit={(event) => {
        event.preventDefault();
        const owner = new FormData(event.currentTarget).get('owner');
        if (typeof owner === 'string') onOwner(owner.trim());
      }}
    >
      <input name="owner" aria-label="Owner" placeholder="Owner" maxLength={200} />
    </form>
  );
}
