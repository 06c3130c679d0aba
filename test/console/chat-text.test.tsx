import { describe, expect, it } from 'vitest';
import { questionOf, questionText } from '../../src/console/chat/approval-text.ts';
import { argsLine, valueTag } from '../../src/console/chat/call-text.ts';
import { dayText, needsDay } from '../../src/console/chat/times.ts';
import { isPlainText, jsonText } from '../../src/react/argument-fields.ts';
import { changesText } from '../../src/console/chat/changes-text.ts';
import type { JsonValue } from '../../src/json.ts';

describe('the question of an approval', () => {
  it.each([
    ['delete_lead', { id: 'lead_1874' }, 'Delete lead_1874?'],
    ['delete_program_lead', { lead_id: 'lead_1874', id: '' }, 'Delete lead_1874?'],
    ['deleteLead', { id: 7 }, 'Delete lead 7?'],
    ['create_lead', { name: 'Helvetia Robotics AG' }, 'Create lead Helvetia Robotics AG?'],
    ['crm.send-mail', { to: 'a@b.c', subject: 'Hi' }, 'Send mail Hi?'],
    ['purge', {}, 'Purge?'],
    ['delete_lead', { note: 'x' }, 'Delete lead?'],
    ['delete_lead', { id: 'x'.repeat(80) }, 'Delete lead?'],
    ['delete_lead', null, 'Delete lead?'],
    ['', {}, 'Run?'],
  ])('is short for %s %j', (tool, args, expected) => {
    expect(questionText(questionOf(tool, args))).toBe(expected);
  });
});

describe('the line of a call', () => {
  it.each([
    [[1, 2], '2 results'],
    [[1], '1 result'],
    [{ items: [1, 2, 3], total: 9 }, '3 results'],
    [{ id: 'lead_2231', name: 'x' }, 'lead_2231'],
    [{ deleted: true }, ''],
    ['84 employees', '84 employees'],
    ['a\nb', ''],
    [true, 'true'],
    [null, 'nothing'],
  ])('shows the result %j as "%s"', (value, expected) => {
    expect(valueTag(value)).toBe(expected);
  });

  it.each([
    [{ type: 'program', query: 'Nordlicht' }, 'program · Nordlicht'],
    [{ owner_of: 'prg_118' }, 'owner_of prg_118'],
    [{ program_id: 'prg_118', limit: 5, all: true }, 'prg_118 · limit 5 · all true'],
    [{ filter: { a: 1 }, note: '', none: null }, 'filter {"a":1}'],
    [{}, ''],
  ])('shows the arguments %j as "%s"', (args, expected) => {
    expect(argsLine({ id: 'a', name: 'x', args, args_summary: JSON.stringify(args) })).toBe(
      expected,
    );
  });

  it('shows streamed arguments so far', () => {
    const call = { id: 'a', name: '', args: '{"id":"le', args_summary: '{"id":"le', partial: true };
    expect(argsLine({ ...call, partial: true })).toBe('{"id":"le');
  });
});

describe('the changes of an approval', () => {
  const change = (name: string, before: JsonValue, after: JsonValue) => ({ name, before, after });
  it.each([
    [[], 'No changes.'],
    [[change('all', true, false)], '1 change: all true → false.'],
    [[change('a', '', 'b')], '1 change: a "" → b.'],
    [
      [change('a\u202e', 'b\u0007', ['\u200b'])],
      String.raw`1 change: a\u202e b\u0007 → ["\u200b"].`,
    ],
    [[change('a\u202e', 1, 2), change('b ', 1, 2)], String.raw`2 changes: a\u202e, "b ".`],
  ])('%j', (changes, expected) => {
    expect(changesText(changes)).toBe(expected);
  });
});

describe('a value of an approval', () => {
  it('is plain text unless it looks like another type', () => {
    expect(['Alpine', 'since 1 June', 'no', '[draft'].filter(isPlainText)).toHaveLength(4);
    expect(
      ['12', 'true', 'null', '', ' x', '"x"', '{}', 12, true, null].filter(isPlainText),
    ).toEqual([]);
    expect(['12', '', 12, true].map(jsonText)).toEqual(['"12"', '""', '12', 'true']);
  });
});

describe('times', () => {
  it.each([
    ['2026-01-16T14:04:00', 'Today, 14:04'],
    ['2026-01-15T09:07:00', 'Yesterday, 09:07'],
    ['2026-01-12T16:20:00', 'Monday, 16:20'],
    ['2026-01-02T11:32:00', '2 Jan, 11:32'],
    ['2025-11-03T11:32:00', '3 Nov 2025, 11:32'],
  ])('%s is %s', (at, expected) => {
    expect(dayText(new Date(at), new Date('2026-01-16T20:00:00'))).toBe(expected);
  });

  it('are shown for a new day and after a break', () => {
    expect(needsDay(null, '2026-01-16T14:04:00')).toBe(true);
    expect(needsDay('2026-01-16T14:00:00', '2026-01-16T14:04:00')).toBe(false);
    expect(needsDay('2026-01-16T12:00:00', '2026-01-16T14:04:00')).toBe(true);
    expect(needsDay('2026-01-15T23:59:00', '2026-01-16T00:01:00')).toBe(true);
    expect(needsDay(null, '')).toBe(false);
  });
});
