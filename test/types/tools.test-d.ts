// oxlint-disable typescript/no-generated-empty-object-type -- a tool without dependencies has `{}`
import {
  defineTool,
  type Call,
  type CallsOf,
  type DepsOf,
  toolContent,
  type JsonObject,
  type Stored,
  type Tool,
  type ToolContent,
  type ToolContext,
} from 'onward';
import * as v from 'valibot';
import * as z from 'zod';
import { clock, findLeads, same, sendMail, type Crm, type Mailer } from './fixtures.ts';

// the schema types the arguments, the annotation the dependencies, the function the result
same<DepsOf<typeof findLeads>, { crm: Crm }>();
same<
  CallsOf<typeof findLeads>,
  Call<'find_leads', { partner: string; limit?: number | undefined }, { id: string; since: Date }[]>
>();
same<DepsOf<typeof clock>, {}>();
same<
  DepsOf<typeof findLeads | typeof sendMail | typeof clock>,
  { crm: Crm } & { mailer: Mailer }
>();
same<DepsOf<never>, {}>();

// any Standard Schema library
defineTool({
  name: 'valibot',
  description: 'Takes a city.',
  parameters: v.object({ city: v.string() }),
  jsonSchema: { type: 'object' },
  execute: (args) => {
    same<typeof args, { city: string }>();
    // @ts-expect-error there is no such argument
    return args.town;
  },
});
/** A schema as the standard defines it, without our types. */
interface ByHand<Input, Output> {
  readonly '~standard': {
    readonly version: 1;
    readonly vendor: string;
    readonly types?: { readonly input: Input; readonly output: Output };
    validate(
      value: unknown,
    ): { readonly value: Output } | { readonly issues: readonly { readonly message: string }[] };
  };
}
declare const byHand: ByHand<{ n: string }, { n: number }>;
const counted = defineTool({
  name: 'by_hand',
  description: 'Takes a number.',
  parameters: byHand,
  execute: ({ n }) => n.toFixed(),
});
same<CallsOf<typeof counted>, Call<'by_hand', { n: string }, string>>();

// inline JSON Schema needs no `as const`
const fromJson = defineTool({
  name: 'json',
  description: 'Takes a city.',
  parameters: {
    type: 'object',
    properties: {
      city: { type: 'string' },
      unit: { enum: ['c', 'f'] },
      days: { type: 'array', items: { type: 'integer' } },
      note: { type: ['string', 'null'] },
      place: { anyOf: [{ type: 'string' }, { const: 3 }] },
    },
    required: ['city', 'unit'],
  },
  execute: (args) => {
    same<
      typeof args,
      {
        readonly city: string;
        readonly unit: 'c' | 'f';
        readonly days?: readonly number[];
        readonly note?: string | null;
        readonly place?: string | 3;
      }
    >();
    return null;
  },
});
same<CallsOf<typeof fromJson>['tool'], 'json'>();
// a schema that is only known at run time describes an object
declare const loaded: JsonObject;
defineTool({
  name: 'wide',
  description: 'Takes anything.',
  parameters: loaded,
  execute: (args) => {
    same<typeof args, JsonObject>();
    return args;
  },
});

// `execute` gets the output of a transform, events carry the input
const due = defineTool({
  name: 'due',
  description: 'Takes a date.',
  parameters: z.object({ on: z.iso.date().transform((text) => new Date(text)) }),
  execute: ({ on }) => on.getTime(),
});
same<CallsOf<typeof due>['args'], { on: string }>();

// a result of parts; streams and events have it as text
const screenshot = defineTool({
  name: 'screenshot',
  description: 'Takes a screenshot.',
  execute: async () =>
    toolContent([
      { type: 'text', text: 'The page:' },
      { type: 'json', value: { title: 'Home' } },
      { type: 'image', data: new Uint8Array(1) },
      { type: 'file', url: 'https://example.com/a.pdf', filename: 'a.pdf' },
    ]),
});
same<CallsOf<typeof screenshot>['result'], ToolContent>();
same<Stored<ToolContent>, string>();
// @ts-expect-error an image has no text
toolContent([{ type: 'image', text: 'x' }]);
// @ts-expect-error there is no such part
toolContent([{ type: 'video', url: 'https://example.com/a.mp4' }]);

// no dependencies declared
defineTool({
  name: 'none',
  description: 'Takes nothing.',
  // @ts-expect-error the context is not annotated
  execute: (_args, { deps }) => deps.crm,
});

// the dependencies of a tool decide where it can be used
export const exported: Tool<{ crm: Crm }> = findLeads;
// @ts-expect-error it needs more dependencies
export const narrow: Tool = findLeads;
export const wide: Tool<{ crm: Crm; mailer: Mailer }> = findLeads;

// one interface for an application, with each tool declaring its part
interface AppDeps {
  crm: Crm;
  mailer: Mailer;
}
type Context<K extends keyof AppDeps> = ToolContext<Pick<AppDeps, K>>;
const part = defineTool({
  name: 'part',
  description: 'Finds.',
  execute: (_args, { deps }: Context<'crm'>) => deps.crm.find('x'),
});
export const needs: DepsOf<typeof part> = { crm: {} as Crm };
