import { describe, expect, it } from 'vitest';
import { activitiesOf } from './activities.ts';
import { companyRows } from './companies.ts';
import { dayInQuarter, daysBefore, daysBetween, quarterOf } from './dates.ts';
import { leadRows, leadStatuses } from './leads.ts';
import { programRows, programStatuses, tiers } from './programs.ts';

const unique = (values: readonly string[]): number => new Set(values).size;

describe('the data set', () => {
  it('has the documented size and unique ids', () => {
    expect(programRows).toHaveLength(12);
    expect(companyRows).toHaveLength(40);
    expect(leadRows).toHaveLength(60);
    expect(unique(leadRows.map(({ id }) => id))).toBe(60);
    expect(unique(companyRows.map(({ domain }) => domain))).toBe(40);
    expect(unique(programRows.map(({ name }) => name))).toBe(12);
  });

  it('is consistent: every lead has an existing program, company and status', () => {
    const programs = new Set(programRows.map(({ name }) => name));
    const domains = new Set(companyRows.map(({ domain }) => domain));
    for (const { id, program, domain, status, value, idleDays, contact } of leadRows) {
      expect(programs.has(program), id).toBe(true);
      expect(domains.has(domain), id).toBe(true);
      expect(leadStatuses, id).toContain(status);
      expect(value, id).toBeGreaterThan(0);
      expect(idleDays, id).toBeGreaterThan(0);
      expect(contact.split(' '), id).toHaveLength(2);
    }
    for (const { tier, status, budget } of programRows) {
      expect(tiers).toContain(tier);
      expect(programStatuses).toContain(status);
      expect(budget).toBeGreaterThan(0);
    }
    for (const { domain, employees, reach } of companyRows) {
      expect(domain).toMatch(/^[a-z-]+\.example$/); // no address that can exist
      expect(employees).toBeGreaterThan(0);
      expect(['steady', 'flaky', 'slow']).toContain(reach);
    }
  });

  it('has each company name at most once per program', () => {
    expect(unique(leadRows.map(({ program, company }) => `${program} ${company}`))).toBe(60);
  });

  it('has a stable history of each lead that ends on its last activity', () => {
    const [lead] = leadRows;
    const history = activitiesOf(lead!, '2026-11-16');
    expect(history[0]![0]).toBe(daysBefore('2026-11-16', lead!.idleDays));
    const days = history.map(([day]) => day);
    expect(days).toEqual(days.toSorted().toReversed());
    expect(activitiesOf(lead!, '2026-11-16')).toEqual(history);
  });
});

describe('dates', () => {
  it.each([
    ['2026-01-01', 0, '2026-01-01', '2026-03-31'],
    ['2026-11-16', 0, '2026-10-01', '2026-12-31'],
    ['2026-11-16', 1, '2027-01-01', '2027-03-31'],
    ['2028-02-29', 3, '2028-10-01', '2028-12-31'],
  ])('the quarter of %s, %s later, is %s to %s', (today, later, from, to) => {
    expect(quarterOf(today, later)).toEqual({ from, to });
  });

  it('has programs that renew later this quarter, on any day of the year', () => {
    for (let i = 0; i < 366; i++) {
      const today = daysBefore('2027-12-31', i);
      const { to } = quarterOf(today);
      const days = programRows.map(({ quarter, share }) => dayInQuarter(today, quarter, share));
      expect(days.filter((day) => day <= to).length, today).toBe(4);
      expect(
        days.every((day) => day >= today),
        today,
      ).toBe(true);
    }
  });

  it('counts days across a change of the clocks', () => {
    expect(daysBetween('2026-03-01', '2026-04-01')).toBe(31);
  });
});
