import { describe, expect, it } from 'vitest';
import type { SessionSummary } from '../server/api.ts';
import {
  ageText,
  groupsOf,
  timeText,
  withFirstPage,
  withNextPage,
  withOpen,
} from './session-pages.ts';

const now = new Date(2026, 10, 16, 14, 20);
const ago = (hours: number): string => new Date(now.getTime() - hours * 3_600_000).toISOString();
const row = (id: string, updatedAt: string, status: SessionSummary['status'] = 'completed') =>
  ({ id, updatedAt, status, title: id, reason: `reason of ${id}` }) as SessionSummary;

describe('groups', () => {
  it('groups sessions that need approval first, the others by day, without empty groups', () => {
    const sessions = [
      row('today', ago(1)),
      row('old question', ago(100), 'paused'),
      row('midnight', new Date(2026, 10, 16, 0, 0).toISOString()),
      row('last night', new Date(2026, 10, 15, 23, 59).toISOString()),
      row('older', new Date(2026, 10, 14, 23, 59).toISOString()),
    ];
    expect(groupsOf(sessions, now).map((g) => [g.title, g.sessions.map(({ id }) => id)])).toEqual([
      ['Needs you', ['old question']],
      ['Today', ['today', 'midnight']],
      ['Yesterday', ['last night']],
      ['Earlier', ['older']],
    ]);
    expect(groupsOf([row('a', ago(1))], now).map(({ title }) => title)).toEqual(['Today']);
  });

  it.each([
    [row('a', ago(0), 'processing'), 'now'],
    [row('a', ago(2 / 60), 'paused'), '2m'],
    [row('a', ago(30), 'paused'), '1d'],
    [row('a', new Date(2026, 10, 16, 9, 5).toISOString()), '09:05'],
    [row('a', new Date(2026, 10, 15, 16, 20).toISOString()), '16:20'],
    [row('a', new Date(2026, 10, 3).toISOString()), '3 Nov'],
    [row('a', new Date(2025, 10, 3).toISOString()), '3 Nov 2025'],
  ])('%# time is %s', (session, text) => expect(timeText(session, now)).toBe(text));

  it.each([
    [59_000, 'now'],
    [60_000, '1m'],
    [3_600_000, '1h'],
    [86_400_000, '1d'],
  ])('%d ms is %s', (ms, text) => expect(ageText(ms)).toBe(text));
});

describe('pages', () => {
  const ids = ({ sessions }: { sessions: readonly SessionSummary[] }) =>
    sessions.map(({ id }) => id);
  const page = (cursor: string | null, ...sessions: SessionSummary[]) => ({ sessions, cursor });
  const loaded = page('c2', row('a', ago(1)), row('b', ago(2)), row('c', ago(3)), row('d', ago(4)));

  it('keeps the scrolled rows when the first page is read again', () => {
    const fresh = page('c1', row('b', ago(0)), row('a', ago(1)));
    expect(ids(withFirstPage(loaded, fresh))).toEqual(['b', 'a', 'c', 'd']);
    expect(withFirstPage(loaded, fresh).cursor).toBe('c2');
  });
  it('drops rows that are no longer on the first page', () => {
    const fresh = page('c1', row('a', ago(1)), row('c', ago(3)));
    expect(ids(withFirstPage(loaded, fresh))).toEqual(['a', 'c', 'd']);
  });
  it('replaces the list if there is only one page', () => {
    expect(ids(withFirstPage(loaded, page(null, row('a', ago(1)))))).toEqual(['a']);
    expect(ids(withFirstPage(null, page('c1', row('a', ago(1)))))).toEqual(['a']);
  });
  it('an empty page of a long search removes nothing', () => {
    expect(withFirstPage(loaded, page('c1'))).toBe(loaded);
  });
  it('a next page adds only new rows', () => {
    const next = withNextPage(loaded, page(null, row('d', ago(4)), row('e', ago(5))));
    expect(ids(next)).toEqual(['a', 'b', 'c', 'd', 'e']);
    expect(next.cursor).toBeNull();
  });
});

it('the row of the open session equals the view', () => {
  const sessions = [row('a', ago(1), 'processing'), row('b', ago(2))];
  const open = {
    id: 'a',
    title: 'Named',
    status: 'stopped',
    reason: 'Stopped · step limit',
    isWhole: false,
  } as const;
  const { isWhole: _, ...said } = open;
  expect(withOpen(sessions, open)[0]).toMatchObject(said);
  const working = { ...open, status: 'processing', reason: 'Working · step 2' } as const;
  expect(withOpen(sessions, working)[0]?.reason).toBe('reason of a');
  expect(withOpen(sessions, { ...working, isWhole: true })[0]?.reason).toBe('Working · step 2');
  expect(withOpen(sessions, open)[1]).toBe(sessions[1]);
  expect(withOpen(sessions, null)).toBe(sessions);
});
