import { describe, expect, expectTypeOf, it } from 'vitest';
import * as z from 'zod';
import { AgentError } from '../errors/agent-error.ts';
import type { JsonObject } from '../json.ts';
import { defineTool } from './define-tool.ts';
import type { ToolContext } from './tool.ts';

const whole = {
  name: 'search',
  description: 'Searches.',
  parameters: z.object({ query: z.string(), limit: z.number().default(5) }),
  execute: () => 'ok',
};

describe('defineTool', () => {
  it('types the arguments from the schema, after defaults', () => {
    defineTool({
      ...whole,
      execute(args, context) {
        expectTypeOf(args).toEqualTypeOf<{ query: string; limit: number }>();
        expectTypeOf(context).toEqualTypeOf<ToolContext>();
      },
      needsApproval: ({ limit }) => limit > 100,
    });
    defineTool({
      ...whole,
      parameters: { type: 'object' },
      execute(args) {
        expectTypeOf(args).toEqualTypeOf<JsonObject>();
      },
    });
  });

  it('has the documented defaults, and is frozen', () => {
    const tool = defineTool(whole);
    expect(tool).toMatchObject({
      name: 'search',
      timeoutMs: 60_000,
      maxResultChars: 50_000,
      idempotent: false,
      needsApproval: null,
    });
    expect(Object.isFrozen(tool)).toBe(true);
  });

  it('takes no arguments without parameters', async () => {
    const { name, description, execute } = whole;
    const tool = defineTool({ name, description, execute });
    expect(tool.jsonSchema).toEqual({
      type: 'object',
      properties: {},
      additionalProperties: false,
    });
    expect(await tool.check({})).toEqual({ ok: true, value: {} });
    expect(await tool.check({ a: 1 })).toMatchObject({ ok: false });
  });

  it('accepts needsApproval as a boolean and as a function', async () => {
    const rule = (needsApproval: boolean | (() => boolean)) =>
      defineTool({ ...whole, needsApproval }).needsApproval;
    expect(rule(false)).toBeNull();
    expect(rule(true)?.({})).toBe(true);
    expect(rule(() => false)?.({})).toBe(false);
  });

  it('keeps `this` of a tool that is written as an object with methods', async () => {
    const tool = defineTool({
      ...whole,
      prefix: 'found ',
      execute(this: { prefix: string }, { query }: { query: string }) {
        return this.prefix + query;
      },
    } as Parameters<typeof defineTool<string, typeof whole.parameters>>[0]);
    expect(tool.execute({ query: 'lamps' }, {} as ToolContext)).toBe('found lamps');
  });

  it.each<[string, object, string, RegExp]>([
    ['no name', { name: undefined }, 'invalid_tool', /its name is undefined, expected 1 to 64/],
    ['a name with spaces', { name: 'my tool' }, 'invalid_tool', /its name is "my tool"/],
    ['a name that is too long', { name: 'x'.repeat(65) }, 'invalid_tool', /expected 1 to 64/],
    ['no description', { description: ' ' }, 'invalid_tool', /search has no description/],
    [
      'no function',
      { execute: 'run' },
      'invalid_tool',
      /search\.execute is "run", expected a func/,
    ],
    [
      'a bad schema',
      { parameters: 5 },
      'invalid_option',
      /Tool "search" got 5, expected a Standard/,
    ],
    ['a zero timeout', { timeoutMs: 0 }, 'invalid_option', /timeoutMs got 0, expected .* above 0/],
    [
      'an infinite timeout',
      { timeoutMs: Number.POSITIVE_INFINITY },
      'invalid_option',
      /Tool "search" timeoutMs got Infinity/,
    ],
    [
      'a negative size',
      { maxResultChars: -1 },
      'invalid_option',
      /Tool "search" maxResultChars got -1/,
    ],
  ])('rejects %s', (_case, wrong, code, message) => {
    let thrown: unknown;
    try {
      defineTool({ ...whole, ...wrong });
    } catch (error) {
      thrown = error;
    }
    expect(AgentError.is(thrown)).toBe(true);
    expect(thrown).toMatchObject({ code, message: expect.stringMatching(message) });
  });
});
