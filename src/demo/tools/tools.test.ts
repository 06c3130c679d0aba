import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../json.ts';
import type { ToolContext } from '../../tools/tool.ts';
import { openPartnerData, type PartnerData } from '../partner-data.ts';
import { partnerTools } from './partner-tools.ts';
import { removeFolder } from '../../../test/setup/folders.ts';

let folder = '';
let data: PartnerData;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'onward-tools-'));
  data = await openPartnerData(folder, () => Date.parse('2026-11-16T12:00:00Z'));
});
afterAll(() => {
  data.close();
  removeFolder(folder);
});

let calls = 0;

/** Calls a tool like the loop: arguments are checked first. */
async function call(name: string, args: JsonObject, key: string = `k${++calls}`): Promise<never> {
  const tool = partnerTools(data, 0).find((t) => t.name === name)!;
  const checked = await tool.check(args);
  if (!checked.ok) throw new Error(checked.message);
  const context = {
    signal: new AbortController().signal,
    state: { agentId: 'a' },
    idempotencyKey: key,
  };
  return (await tool.execute(checked.value, context as ToolContext)) as never;
}

const failure = (name: string, args: JsonObject): Promise<string> =>
  call(name, args).then(
    () => 'it worked',
    (error: unknown) => (error as Error).message,
  );

interface Leads {
  readonly total: number;
  readonly shown: number;
  readonly leads: readonly JsonObject[];
}

describe('search_programs', () => {
  it('finds by renewal, tier, region, owner and part of the name', async () => {
    const names = async (args: JsonObject): Promise<unknown[]> => {
      const { programs } = (await call('search_programs', args)) as { programs: JsonObject[] };
      return programs.map((program) => program['name']);
    };
    expect(await names({ renews: 'this_quarter' })).toEqual([
      'Nordlicht',
      'Iberia Cloud',
      'Alpine',
      'Gallia',
    ]);
    expect(await names({ renews: 'next_quarter' })).toEqual([
      'Baltic',
      'Rhine Valley',
      'Benelux Scale',
    ]);
    expect(await names({ tier: 'platinum', region: 'dach' })).toEqual(['Rhine Valley']);
    expect(await names({ text: 'luca' })).toEqual(['Adriatic', 'Hellas']);
    expect(await names({})).toHaveLength(12);
  });
});

describe('search_leads', () => {
  it('counts all matches and returns the first of them', async () => {
    const found: Leads = await call('search_leads', { program: 'Baltic', limit: 5 });
    expect(found).toMatchObject({ total: 12, shown: 5 });
    const days = found.leads.map((lead) => lead['last_activity'] as string);
    expect(days).toEqual(days.toSorted().toReversed());
  });

  it.each<[JsonObject, number]>([
    [{ text: 'HELVETIA' }, 2],
    [{ text: 'oresund' }, 2],
    [{ text: 'lutèce' }, 2],
    [{ text: '%' }, 0],
    [{ text: '_' }, 0],
    [{ text: "' OR 1=1 --" }, 0],
    [{ program: 'prg_102', status: 'inactive' }, 3],
    [{ program: 'iberia' }, 5],
    [{ program: 'Alpine', idle_days: 400 }, 2],
    [{ owner: 'unassigned' }, 5],
    [{ owner: 'greta', status: 'won' }, 1],
  ])('%j finds %i', async (args, total) => {
    expect(((await call('search_leads', args)) as Leads).total).toBe(total);
  });

  it.each<[JsonObject, RegExp]>([
    [
      { program: 'Atlantis' },
      /There is no program "Atlantis"\. Programs: Adriatic, Alpine, .* Call again/,
    ],
    [{ program: 'a' }, /There is no program "a"/],
    [{ program: 'x'.repeat(5000) }, /^There is no program "x{80}…"/],
    [{ status: 'asleep' }, /status/],
    [{ limit: 1000 }, /limit/],
    [{ unknown: 1 }, /unknown/],
  ])('%j is refused with a helpful error', async (args, message) => {
    expect(await failure('search_leads', args)).toMatch(message);
  });
});

describe('create_lead', () => {
  it('adds a lead once for a call, however often it runs', async () => {
    const args = { company: 'Neue Welle GmbH', program: 'alpine', value: 5, owner: 'Greta Hofer' };
    const first: JsonObject = await call('create_lead', args, 'same');
    expect(first).toMatchObject({ id: 'lead_2208', program: 'Alpine', status: 'new', value: 5 });
    expect(await call('create_lead', args, 'same')).toEqual(first);
    expect(await failure('create_lead', args)).toMatch(
      /Alpine has this company already: lead_2208 \(new, owner Greta Hofer\)\. Change that one/,
    );
    expect(((await call('search_leads', { text: 'neue welle' })) as Leads).total).toBe(1);
  });

  it.each<[JsonObject, RegExp]>([
    [{ company: 'Foo', program: 'Atlantis' }, /There is no program "Atlantis"/],
    [{ company: 'Foo' }, /program/],
    [{ company: 'zugspitze software', program: 'Alpine' }, /already: lead_2113/],
    [{ company: 'Foo', program: 'Alpine', value: -1 }, /value/],
  ])('%j is refused, and stores nothing', async (args, message) => {
    const before = data.one('SELECT count(*) AS n FROM leads');
    expect(await failure('create_lead', args)).toMatch(message);
    expect(data.one('SELECT count(*) AS n FROM leads')).toEqual(before);
  });
});

describe('update_lead', () => {
  it('changes the given fields, and records an activity for the right ones', async () => {
    const before = data.one("SELECT last_activity FROM leads WHERE id = 'lead_2106'")!;
    const enriched: JsonObject = await call('update_lead', {
      id: 'lead_2106',
      employees: 540,
      city: 'Oslo',
    });
    expect(enriched).toMatchObject({ employees: 540, city: 'Oslo', ...before });
    const changed: JsonObject = await call('update_lead', {
      id: 'lead_2106',
      contact_name: 'Åse Øy',
    });
    expect(changed).toMatchObject({ last_activity: '2026-11-16', contact_name: 'Åse Øy' });
    expect(((await call('search_leads', { text: 'ase' })) as Leads).total).toBeGreaterThan(0);
  });

  it.each<[JsonObject, RegExp]>([
    [{ id: 'lead_2106' }, /Nothing to change in lead_2106\. Give at least one of: status, value/],
    [{ id: 'lead_1' }, /There is no lead "lead_1"/],
    [{ id: 'lead_2106', 'owner = 1 --': 'x' }, /owner = 1/],
  ])('%j is refused', async (args, message) => {
    expect(await failure('update_lead', args)).toMatch(message);
  });
});

describe('delete_lead', () => {
  const args = { program: 'Alpine', reason: 'inactive', notify_owner: true };

  it('deletes the lead with its history, once for a call', async () => {
    const given = { ...args, id: 'lead_1902', company: 'engadin optics ag' };
    const gone = await call('delete_lead', given, 'once');
    expect(gone).toEqual({
      deleted: 'lead_1902',
      company: 'Engadin Optics AG',
      program: 'Alpine',
      owner: 'Greta Hofer',
      owner_notified: true,
    });
    expect(await call('delete_lead', given, 'once')).toEqual(gone);
    expect(data.one("SELECT 1 AS n FROM activities WHERE lead_id = 'lead_1902'")).toBeUndefined();
    expect(await failure('delete_lead', given)).toMatch(/There is no lead "lead_1902"/);
  });

  it('refuses a company that is not the one of the id', async () => {
    expect(await failure('delete_lead', { ...args, id: 'lead_1874', company: 'Sisu' })).toMatch(
      /^Nothing was deleted: lead_1874 is Gotthard Logistics AG, not "Sisu"/,
    );
    expect(data.one("SELECT 1 AS n FROM leads WHERE id = 'lead_1874'")).toEqual({ n: 1 });
  });
});

describe('program_report', () => {
  it('is larger than one envelope, for every program with a handful of leads', async () => {
    const report = await call('program_report', { program: 'Nordlicht' });
    const text = JSON.stringify(report);
    expect(text.length).toBeGreaterThan(50_000);
    expect(text.length).toBeLessThan(250_000);
    expect(report).toMatchObject({
      program: { name: 'Nordlicht' },
      made_on: '2026-11-16',
      totals: { leads: 8, value: 471_000 },
    });
  });
});

describe('enrich_company', () => {
  it('is flaky for some companies, slow for one, and reliable for the others', async () => {
    const tool = partnerTools(data, 0).find(({ name }) => name === 'enrich_company')!;
    const ask = async (domain: string, signal = new AbortController().signal): Promise<unknown> =>
      tool.execute({ domain }, { signal } as ToolContext);
    await expect(ask('helvetia-robotics.example')).rejects.toThrow('(503)');
    expect(await ask('Helvetia-Robotics.example')).toMatchObject({ employees: 84 });
    expect(await ask('fjordkraft.example')).toEqual({
      domain: 'fjordkraft.example',
      name: 'Fjordkraft Systems AS',
      employees: 310,
      city: 'Bergen',
      industry: 'energy',
    });
    await expect(ask('unknown.example')).rejects.toThrow('(404)');
    const silence = AbortSignal.timeout(20);
    await expect(ask('tajo-maritima.example', silence)).rejects.toThrow(/timeout/);
    expect(await ask('tajo-maritima.example')).toMatchObject({ city: 'Lisboa' });
  });
});
