import * as z from 'zod';
import { describe, expect, it } from 'vitest';
import { AgentBuilder } from '../agent/agent-builder.ts';
import { ErrorPolicy } from '../errors/error-policy.ts';
import type { ToolContext } from '../tools/tool.ts';
import { DeterministicDriver } from './deterministic-driver.ts';
import { mockTool, type MockTool } from './mock-tool.ts';
import { ScenarioStep } from './scenario-step.ts';

/** Calls the tool with each of the arguments, one step each. */
async function called(tool: MockTool, ...calls: Record<string, never>[]) {
  const script = calls.map((args) => ScenarioStep.toolCall(tool.name, args));
  const state = await AgentBuilder.base()
    .withDriver(DeterministicDriver.fromSteps(...script, 'Done.'))
    .withTools(tool)
    .withErrorPolicy(ErrorPolicy.ignoreToolErrors())
    .build()
    .run('go', { deps: { db: 'live' } });
  return [...state.steps].flatMap(({ results }) => results);
}

describe('mockTool', () => {
  it('returns "ok" by default, and records its calls', async () => {
    const tool = mockTool('stock');
    const results = await called(tool, { a: 1 } as never, { b: 2 } as never);
    expect(results.map(({ value }) => value)).toEqual(['ok', 'ok']);
    expect(tool.calls).toEqual([{ a: 1 }, { b: 2 }]);
    expect(tool.contexts.map(({ callId }) => callId)).toEqual(['call_1', 'call_2']);
    expect(tool.contexts[0]!.deps).toEqual({ db: 'live' });
  });

  it('answers from a list: values, errors, functions', async () => {
    const answers = [
      { pieces: 7 },
      new Error('offline'),
      (args: unknown, { callId }: ToolContext) => ({ args, callId }),
      async () => 'later',
      null,
    ];
    const results = await called(mockTool('stock', answers), {}, {}, { x: 1 } as never, {}, {});
    expect(results.map(({ kind, value }) => [kind, value])).toEqual([
      ['ok', { pieces: 7 }],
      ['error', 'Error: offline'],
      ['ok', { args: { x: 1 }, callId: 'call_3' }],
      ['ok', 'later'],
      ['ok', null],
    ]);
  });

  it('a list that runs out rejects run(), whatever the error policy', async () => {
    const tool = mockTool('stock', [1]);
    await expect(called(tool, {}, {})).rejects.toMatchObject({
      code: 'script_exhausted',
      message:
        'mockTool("stock") was called 2 times, but its list has 1 answer. Add one, or find out why it is called again.',
    });
  });

  it('an empty list forbids every call', async () => {
    await expect(called(mockTool('stock', []), {})).rejects.toMatchObject({
      code: 'script_exhausted',
    });
  });

  it('accepts schema, approval and limits like any tool', async () => {
    const tool = mockTool('stock', 'x'.repeat(20), {
      description: 'Counts.',
      parameters: z.object({ article: z.string() }),
      maxResultChars: 5,
      idempotent: true,
      needsApproval: true,
    });
    expect(tool).toMatchObject({
      name: 'stock',
      description: 'Counts.',
      idempotent: true,
      maxResultChars: 5,
    });
    expect(tool.needsApproval?.({})).toBe(true);
    const results = await called(
      mockTool('stock', 1, { parameters: z.object({ n: z.number() }) }),
      {
        n: 'one',
      } as never,
    );
    expect(results).toMatchObject([{ kind: 'error', error: { code: 'bad_arguments' } }]);
  });
});
