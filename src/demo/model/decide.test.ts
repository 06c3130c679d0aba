import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cpuMs } from '../../../test/setup/cpu-time.ts';
import type { InferenceRequest } from '../../inference/inference-driver.ts';
import { Message, type MessageInput } from '../../messages/message.ts';
import { Messages } from '../../messages/messages.ts';
import { decide } from './decide.ts';
import { inPieces } from './speech.ts';

const names = [
  'search_programs',
  'search_leads',
  'get_lead',
  'enrich_company',
  'create_lead',
  'update_lead',
  'delete_lead',
  'program_report',
];

function request(
  messages: readonly MessageInput[],
  more: Partial<InferenceRequest> = {},
): InferenceRequest {
  return {
    system: null,
    messages: Messages.from(messages),
    tools: names.map((name) => ({ name, description: name, parameters: {} })),
    toolChoice: 'auto',
    responseFormat: null,
    ...more,
  };
}

const typed = (text: string) => decide(request([Message.user(text)]));

/** A call with its result. */
const called = (name: string, args: Message['toolCalls'][number]['args'], result: string) => {
  const id = `call_${name}_${JSON.stringify(args)}`;
  return [
    Message.assistant('', { toolCalls: [{ id, name, args }] }),
    Message.tool(id, result, { name }),
  ];
};

describe("the user's text selects the reply", () => {
  it.each<[string, string, object]>([
    ['Which programs renew this quarter?', 'search_programs', { renews: 'this_quarter' }],
    ['Which programs renew next quarter?', 'search_programs', { renews: 'next_quarter' }],
    ['what renews this year', 'search_programs', { renews: 'this_year' }],
    ['gold programs in DACH', 'search_programs', { tier: 'gold', region: 'DACH' }],
    ['paused programs', 'search_programs', { status: 'paused' }],
    ['programs of Luca', 'search_programs', { text: 'Luca Moretti' }],
    ['list all programs', 'search_programs', {}],
    ['Iberia', 'search_programs', { text: 'Iberia Cloud' }],
    ['new leads in Alpine', 'search_leads', { program: 'Alpine', status: 'new' }],
    ['How many leads are won?', 'search_leads', { status: 'won' }],
    ['leads without an owner', 'search_leads', { owner: 'unassigned' }],
    ['leads of Greta idle for 90 days', 'search_leads', { owner: 'Greta Hofer', idle_days: 90 }],
    ['leads with no activity for 6 months', 'search_leads', { idle_days: 180 }],
    ['leads called Zugspitze', 'search_leads', { text: 'Zugspitze' }],
    ['leads like "sisu mar"', 'search_leads', { text: 'sisu mar' }],
    ['leads of Foobar', 'search_leads', { program: 'Foobar' }],
    ['show all leads', 'search_leads', { limit: 100 }],
    ['find duplicates in Gallia', 'search_leads', { program: 'Gallia', limit: 100 }],
    [
      'Clean up inactive Alpine leads',
      'search_leads',
      { program: 'Alpine', status: 'inactive', limit: 8 },
    ],
    [
      'delete lost leads in Baltic',
      'search_leads',
      { program: 'Baltic', status: 'lost', limit: 8 },
    ],
    ['show lead 2101', 'get_lead', { id: 'lead_2101' }],
    ['delete lead_2207', 'get_lead', { id: 'lead_2207' }],
    ['who owns LEAD-2207?', 'get_lead', { id: 'lead_2207' }],
    ['enrich lead_2104', 'get_lead', { id: 'lead_2104' }],
    ['set lead_2104 to contacted', 'update_lead', { id: 'lead_2104', status: 'contacted' }],
    [
      'assign lead_2108 to Mara Lindqvist',
      'update_lead',
      { id: 'lead_2108', owner: 'Mara Lindqvist' },
    ],
    ['assign lead_2108 to Ada Byron', 'update_lead', { id: 'lead_2108', owner: 'Ada Byron' }],
    ['set the value of lead_2108 to 31,500', 'update_lead', { id: 'lead_2108', value: 31500 }],
    ['look up fjordkraft.example', 'enrich_company', { domain: 'fjordkraft.example' }],
    ['Look up Sisu Maritime', 'search_leads', { text: 'Sisu Maritime', limit: 1 }],
    ['Enrich every lead of the Baltic program', 'search_leads', { program: 'Baltic', limit: 100 }],
    ['Gallia report please', 'program_report', { program: 'Gallia' }],
    ['Import the leads from Atlantis', 'search_leads', { program: 'Atlantis' }],
    [
      'Which programs renew this quarter, and act busy',
      'search_programs',
      { renews: 'this_quarter' },
    ],
  ])('"%s" calls %s', (text, name, args) => {
    expect(typed(text).calls).toEqual([{ name, args }]);
  });

  it('runs two independent searches in one step', () => {
    expect(typed('Add a lead for Sisu Maritime to Baltic').calls).toEqual([
      { name: 'search_leads', args: { text: 'Sisu' } },
      { name: 'search_programs', args: {} },
    ]);
  });

  it.each([
    'hello',
    'what can you do?',
    'what is the meaning of life',
    '',
    '   ',
    '¿Qué?',
    '🦆',
    'no',
  ])('"%s" needs no tool, and the answer names the demo model', (text) => {
    const { text: said, calls } = typed(text);
    expect(calls).toEqual([]);
    expect(said).toMatch(/demo model/);
    if (text !== 'no') expect(said).toContain('OPENAI_API_KEY');
  });
});

describe('the next reply depends on tool results', () => {
  const lookUp = Message.user('look up fjordkraft.example');
  const args = { domain: 'fjordkraft.example' };
  const failed = called('enrich_company', args, 'Error: The directory did not answer (503).');

  it('retries a temporary failure at most three times, and then reports it', () => {
    expect(decide(request([lookUp, ...failed])).calls).toHaveLength(1);
    expect(decide(request([lookUp, ...failed, ...failed])).calls).toHaveLength(1);
    const last = decide(request([lookUp, ...failed, ...failed, ...failed]));
    expect(last.calls).toEqual([]);
    expect(last.text).toContain('did not answer');
  });

  it('does not retry an error that is not retryable', () => {
    const gone = called('enrich_company', args, 'Error: The directory has no such company (404).');
    expect(decide(request([lookUp, ...gone])).calls).toEqual([]);
  });

  it('repeats an interrupted call', () => {
    const cut = called('enrich_company', args, 'Not finished: a stop was requested.');
    expect(decide(request([lookUp, ...cut])).calls).toHaveLength(1);
  });

  it.each([
    'text that is not JSON',
    '[1,2,3]',
    '"text"',
    'null',
    '{"leads":"no list"}',
    '{"leads":[1,null,"x"],"total":{}}',
    '{"programs":{},"totals":[]}… [cut: 5 of 9 characters shown]',
  ])('accepts a result of another shape: %s', (result) => {
    for (const text of [
      'leads in Alpine',
      'gold programs',
      'Clean up inactive Alpine leads',
      'show lead_2101',
      'Show the full Nordlicht report',
      'find duplicates',
      'look up fjordkraft.example',
      'Add a lead for Sisu Maritime to Baltic',
      'Enrich every lead of the Baltic program',
    ]) {
      const messages: Message[] = [Message.user(text)];
      for (let step = 0; step < 4; step++) {
        const { calls } = decide(request(messages));
        for (const { name, args: given } of calls) messages.push(...called(name, given, result));
        if (calls.length === 0) break;
      }
      expect(decide(request(messages)).text).not.toBe('');
    }
  });

  it('answers with what it has without tools', () => {
    const nothing = decide(request([lookUp], { toolChoice: 'none' }));
    expect(nothing.calls).toEqual([]);
    expect(nothing.text).toContain('may not use tools');
    const some = called(
      'search_leads',
      { program: 'Baltic', limit: 100 },
      '{"total":1,"leads":[{"domain":"a.example"}]}',
    );
    const landing = decide(
      request([Message.user('Enrich every lead of Baltic'), ...some], { toolChoice: 'none' }),
    );
    expect(landing.calls).toEqual([]);
    expect(landing.text).toContain('search_leads: 1 time');
  });

  it('calls only tools that it was given', () => {
    expect(decide(request([lookUp], { tools: [] })).calls).toEqual([]);
  });
});

describe('any text', () => {
  const nasty = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc
      .array(
        fc.constantFrom(
          'delete',
          'lead_1',
          'add a lead for',
          'Baltic',
          'enrich',
          '" OR 1=1;--',
          '<script>',
          'report',
          'the second one',
          'yes',
          '?',
          'import from',
          '\n',
          '(((',
          '\\',
          '%',
          'act busy',
        ),
      )
      .map((words) => words.join(' ')),
  );

  it('gets text, and arguments that match the tools', () => {
    fc.assert(
      fc.property(nasty, (text) => {
        const { text: said, calls } = typed(text);
        expect(said.trim()).not.toBe('');
        expect(inPieces(said).join('')).toBe(said);
        for (const { name, args } of calls) {
          expect(names).toContain(name);
          expect(JSON.parse(JSON.stringify(args))).toEqual(args);
        }
      }),
      { numRuns: 500 },
    );
  });

  it.each<[string, string]>([
    ['100 KB of one letter', 'a'.repeat(100_000)],
    ['100 KB of spaces', ' '.repeat(100_000)],
    ['100 KB of "add a lead for "', 'add a lead for '.repeat(7000)],
    ['100 KB of brackets', '("Shall I '.repeat(10_000)],
    ['100 KB of quotes', `leads "${"'".repeat(100_000)}`],
    ['100 KB of act busy', 'and act busy '.repeat(8000)],
  ])('answers %s quickly', (_case, text) => {
    const later = [Message.user('hi'), Message.assistant(text), Message.user(text)];
    const ms = cpuMs(() => {
      expect(typed(text).text).not.toBe('');
      expect(decide(request(later)).text).not.toBe('');
    });
    expect(ms).toBeLessThan(5_000);
  });
});
