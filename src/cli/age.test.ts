import { expect, it } from 'vitest';
import { olderThan } from './age.ts';

const now = Date.parse('2026-11-17T12:00:00.000Z');

it.each([
  ['90d', '2026-08-19T12:00:00.000Z'],
  ['12h', '2026-11-17T00:00:00.000Z'],
  ['2w', '2026-11-03T12:00:00.000Z'],
  ['30m', '2026-11-17T11:30:00.000Z'],
  ['0d', '2026-11-17T12:00:00.000Z'],
  ['2026-01-31', '2026-01-31T00:00:00.000Z'],
  ['2026-01-31T10:00:00Z', '2026-01-31T10:00:00.000Z'],
])('%s is %s', (text, time) => {
  expect(olderThan(text, now).toISOString()).toBe(time);
});

it.each([
  '',
  '90',
  'd',
  '-1d',
  '90 d',
  '1.5d',
  '9999999d',
  '90y',
  'soon',
  '2027-01-01',
  '1',
  '2026-13-01',
])('%j is refused', (text) => {
  expect(() => olderThan(text, now)).toThrow('expected an age such as 90d');
});
