import type { ListQuery, Scope } from '../api-client.ts';

/** What the Sessions page shows: all of it is in the address. */
export interface ListFilters {
  readonly q: string;
  /** Statuses, separated by commas. */
  readonly status: string;
  readonly agent: string;
  readonly owner: string;
  readonly model: string;
  /** `1h`, `24h`, `7d`, `30d`, or two times with `..` between them. */
  readonly updated: string;
  /** Least cost. */
  readonly cost: string;
  readonly error: string;
  /** `1`: only sessions that need attention. */
  readonly attention: string;
  readonly by: string;
  readonly order: string;
  /** `1`: sessions of all owners. */
  readonly all: string;
}

const names = [
  'q',
  'status',
  'agent',
  'owner',
  'model',
  'updated',
  'cost',
  'error',
  'attention',
  'by',
  'order',
  'all',
] as const satisfies readonly (keyof ListFilters)[];

/** Filters that have a chip, without the search and the order. */
export const chipNames = [
  'attention',
  'status',
  'agent',
  'owner',
  'model',
  'updated',
  'cost',
  'error',
] as const;

export function filtersIn(query: string): ListFilters {
  const params = new URLSearchParams(query);
  return Object.fromEntries(
    names.map((name) => [name, params.get(name) ?? '']),
  ) as unknown as ListFilters;
}

export const isFiltered = (filters: ListFilters): boolean =>
  filters.q !== '' || chipNames.some((name) => filters[name] !== '');

export const scopeOf = ({ all }: Pick<ListFilters, 'all'>): Scope => (all === '1' ? 'all' : 'own');

const HOUR = 3_600_000;
const spans: Readonly<Record<string, number>> = {
  '1h': HOUR,
  '24h': 24 * HOUR,
  '7d': 168 * HOUR,
  '30d': 720 * HOUR,
};

/** Returns the query of the API. */
export function listQueryOf(filters: ListFilters, now: number): ListQuery {
  const { q, status, agent, owner, model, updated, cost, error, attention, by, order } = filters;
  const span = spans[updated];
  const [from, before] = span === undefined ? updated.split('..') : [];
  return {
    search: q.trim() || undefined,
    statuses: status || undefined,
    agents: agent || undefined,
    models: model || undefined,
    owner: scopeOf(filters) === 'all' && owner ? owner : undefined,
    updatedFrom: span === undefined ? from || undefined : new Date(now - span).toISOString(),
    updatedBefore: before || undefined,
    costFrom: cost || undefined,
    hasError: error === 'yes' ? 'true' : error === 'no' ? 'false' : undefined,
    attention: attention === '1' ? 'true' : undefined,
    by: by || undefined,
    order: order || undefined,
  };
}

/** Returns the words of a filter's value. */
export function valueText(name: keyof ListFilters, value: string): string {
  if (name === 'status')
    return value
      .split(',')
      .map((one) => statusNames[one] ?? one)
      .join(', ');
  if (name === 'cost') return `over $${value}`;
  if (name === 'attention') return 'only';
  if (name === 'updated') return updatedText(value);
  return value;
}

const statusNames: Readonly<Record<string, string>> = {
  idle: 'ready',
  processing: 'working',
  paused: 'paused',
  completed: 'completed',
  stopped: 'stopped',
  cancelled: 'stopped by a user',
  failed: 'failed',
};

const spanNames: Readonly<Record<string, string>> = {
  '1h': 'last hour',
  '24h': 'last 24 hours',
  '7d': 'last 7 days',
  '30d': 'last 30 days',
};

function updatedText(value: string): string {
  const known = spanNames[value];
  if (known !== undefined) return known;
  const [from = '', before = ''] = value.split('..');
  const text = (time: string): string =>
    Number.isNaN(Date.parse(time))
      ? '…'
      : new Date(time).toLocaleString('en-GB', {
          day: 'numeric',
          month: 'short',
          hour: '2-digit',
          minute: '2-digit',
        });
  return `${text(from)} to ${text(before)}`;
}

/** Choices of each chip. */
export const choices: Readonly<Partial<Record<keyof ListFilters, readonly string[]>>> = {
  status: Object.keys(statusNames),
  updated: Object.keys(spanNames),
  cost: ['0.01', '0.05', '0.10', '1'],
  error: ['yes', 'no'],
  attention: ['1'],
};
