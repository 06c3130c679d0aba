// oxlint-disable vitest/no-standalone-expect -- `it` of describeEval is a test

// oxlint-disable-next-line import/no-unassigned-import -- it adds the matchers
import 'onward/evals/vitest';
import { createAgent, defineTool } from 'onward';
import { calledTool, outputContains, scorer } from 'onward/evals';
import {
  vitestEvalsHarness,
  vitestEvalsJudge,
  vitestEvalsJudgeHarness,
} from 'onward/evals/vitest-evals';
import { expect } from 'vitest';
import { describeEval, FactualityJudge, toolCalls, ToolCallJudge } from 'vitest-evals';
import { scriptOf } from '../setup/eval-script.ts';

const refund = defineTool({
  name: 'refund',
  description: 'Refunds an invoice.',
  needsApproval: true,
  execute: ({ invoice }) => ({ refunded: invoice }),
  parameters: {
    type: 'object',
    properties: { invoice: { type: 'string' } },
    required: ['invoice'],
  },
});

const harness = vitestEvalsHarness({
  name: 'refunds',
  agent: createAgent({
    driver: scriptOf([
      { calls: [{ name: 'refund', args: { invoice: 'inv_1' } }] },
      { text: 'Invoice inv_1 is refunded.', usage: { input: 20, output: 10 } },
    ]),
    tools: [refund],
  }),
  approvals: 'approve',
});

const judgeHarness = vitestEvalsJudgeHarness(
  scriptOf([{ text: '{"choice":"C","rationale":"the same facts"}' }]),
);

describeEval(
  'refunds, with vitest-evals',
  {
    harness,
    judgeHarness,
    judges: [
      vitestEvalsJudge(calledTool('refund', { args: { invoice: 'inv_1' } })),
      vitestEvalsJudge(outputContains(['refunded'])),
    ],
    judgeThreshold: 1,
  },
  (it) => {
    it('runs the agent, with its transcript, usage and both kinds of matchers', async ({ run }) => {
      const result = await run('Refund invoice inv_1');
      expect(result.output).toBe('Invoice inv_1 is refunded.');
      expect(toolCalls(result)).toMatchObject([
        {
          name: 'refund',
          arguments: { invoice: 'inv_1' },
          status: 'ok',
          result: { refunded: 'inv_1' },
        },
      ]);
      expect(result.usage).toMatchObject({ totalTokens: 30, toolCalls: 1 });
      expect(result).toHaveCalledTool('refund', { invoice: 'inv_1' });
      expect(result).toHaveStoppedBecause('completed');
      await expect(result).toSatisfyJudge(ToolCallJudge(), { expectedTools: ['refund'] });
    });

    it('takes a conversation, and its judges fail the suite', async ({ run }) => {
      const result = await run({
        messages: [
          { role: 'user', content: 'Hello' },
          { role: 'assistant', content: 'Hi' },
          { role: 'user', content: 'Refund it' },
        ],
        expected: { calls: [{ tool: 'refund', args: { invoice: 'inv_1' } }] },
      }).catch((error: unknown) => error);
      // the script has one answer per assistant message, so that this conversation ends without a call
      expect(String(result)).toContain(
        'Expected refund with {"invoice":"inv_1"}. It was not called.',
      );
    });

    it('runs judges of the library on an Onward model', async ({ run }) => {
      const result = await run('Refund invoice inv_1');
      await expect(result).toSatisfyJudge(FactualityJudge(), {
        expected: 'Invoice inv_1 was refunded.',
        threshold: 0.9,
      } as never);
    });

    it('fails when a scorer fails, with its reason', async ({ run }) => {
      const result = await run('Refund invoice inv_1');
      const strict = vitestEvalsJudge(
        scorer('short', ({ run: { outputText } }) => ({
          score: outputText.length < 5 ? 1 : 0.2,
          reason: `it has ${outputText.length} characters`,
        })),
      );
      await expect(expect(result).toSatisfyJudge(strict as never)).rejects.toThrow(
        'it has 26 characters',
      );
    });
  },
);
