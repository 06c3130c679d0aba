import { AgentState, type AgentEvent } from 'onward';
import type { InferenceResponse } from 'onward/drivers';
import { describe, expect, it } from 'vitest';
import { estimateTokens } from '../src/inference/estimate-tokens.ts';
import { modelCallFailed } from '../src/inference/inference-error.ts';
import { Messages } from '../src/messages/messages.ts';
import { continuedBecause } from '../src/trace/continued-because.ts';
import {
  call,
  isSummaryRequest,
  longAgent,
  longModel,
  textOf,
  type SentRequest,
} from './setup/long-conversations.ts';

type Runner = { run(state: AgentState): Promise<AgentState> };

const question = (i: number): string => `Question ${i} ${'?'.repeat(40)}`;

/** Sends messages one after the other. */
async function talk(agent: Runner, turns: number, state = AgentState.empty()): Promise<AgentState> {
  let next = state;
  for (let i = 0; i < turns; i++) next = await agent.run(next.withUserMessage(question(i)));
  return next;
}

const kinds = (state: AgentState): string[] => state.compactions.map(({ kind }) => kind);
const rolesOf = ({ messages }: SentRequest): string => messages.map(({ role }) => role[0]).join('');
const sizeOf = (request: SentRequest): number =>
  estimateTokens({ ...request, messages: Messages.from(request.messages) });
/** A text of the model that is long, so that notes in place of results are not enough. */
const essay = (words = 400): Partial<InferenceResponse> => ({ content: 'word '.repeat(words) });

describe('compaction', () => {
  it('turns old tool results into notes first, and keeps the newest turns', async () => {
    const model = longModel();
    const agent = longAgent(model).withCompaction({ atTokens: 3_000 }).build();
    const state = await talk(agent, 6);
    expect(state.status).toBe('completed');
    expect(kinds(state)).toEqual(['tool_results']);
    expect(model.summaries).toEqual([]);
    const [first] = state.compactions;
    expect(first).toMatchObject({ reason: 'threshold', cost: 0, fromPosition: 2 });
    expect(first!.tokensBefore).toBeGreaterThanOrEqual(3_000);
    expect(first!.tokensAfter).toBeLessThanOrEqual(1_500);
    const results = model.requests.at(-1)!.messages.filter((message) => message.isTool());
    expect(results).toHaveLength(6);
    expect(results[0]!.text).toMatch(
      /^\[Left out to save space: a result of \d+ characters\. To read it, call read_earlier_result with \{"id": "msg_\w+"\}\.\]$/,
    );
    expect(results.at(-1)!.text).toMatch(/xxxx$/);
    // the conversation has all of them
    for (const message of state.messages) if (message.isTool()) expect(message.text).toMatch(/x$/);
  });

  it('summarizes whole turns if that is not enough, and later summaries extend earlier ones', async () => {
    const model = longModel({ answer: () => essay() });
    const agent = longAgent(model).withCompaction({ atTokens: 3_000 }).build();
    const state = await talk(agent, 20);
    expect(new Set(kinds(state))).toEqual(new Set(['summary']));
    expect(state.compactions.length).toBeGreaterThan(2);
    for (const { tokensBefore, tokensAfter, model: by, usage } of state.compactions) {
      expect(tokensBefore).toBeGreaterThanOrEqual(3_000);
      expect(tokensAfter).toBeLessThanOrEqual(1_700);
      expect([by, usage.output]).toEqual(['long', 10]);
    }
    const [first, second] = state.compactions;
    expect(second!.fromPosition).toBe(first!.toPosition);
    expect(textOf(model.summaries[0]!.messages[0]!)).not.toContain('record_so_far');
    expect(textOf(model.summaries[1]!.messages[0]!)).toContain(
      '<record_so_far>\nSummary 0.\n</record_so_far>',
    );
    const last = model.requests.at(-1)!;
    expect(last.messages[0]!.text).toMatch(
      /^<record_of_earlier_messages>\n[^]*\n\nSummary \d+\.\n<\/record_of_earlier_messages>$/,
    );
    expect(rolesOf(last)).toMatch(/^u(ua)*u$/);
    expect(state.messages).toHaveLength(40);
    for (const request of model.requests) expect(sizeOf(request)).toBeLessThan(3_600);
  });

  it('keeps the user message of one huge turn, and cuts between groups of calls', async () => {
    const model = longModel({
      answer: (_, n) => (n < 40 ? { ...call('look', { page: n }), ...essay(100) } : essay(5)),
    });
    const agent = longAgent(model, 400).withCompaction({ atTokens: 3_000 }).build();
    const state = await agent.run(AgentState.empty().withUserMessage('Read all 40 pages.'));
    expect(state.status).toBe('completed');
    expect(kinds(state)).toContain('summary');
    const last = model.requests.at(-1)!;
    expect(rolesOf(last)).toMatch(/^uu(at)+$/);
    expect(last.messages[1]!.text).toBe('Read all 40 pages.');
    for (const { messages } of model.requests)
      expect(Messages.from(messages).pairingProblem()).toBeNull();
    for (const request of model.requests) expect(sizeOf(request)).toBeLessThan(3_700);
  });

  it('D68: a summary that fails, is empty or was cut changes nothing, and the run continues', async () => {
    const failures: ((n: number) => Partial<InferenceResponse>)[] = [
      () => {
        throw new Error('the model is down');
      },
      () => ({ content: ' \n' }),
      () => ({ content: 'The user wants', finishReason: 'length' }),
      () => ({ content: '', refusal: 'I will not' }),
      () => call('look'),
      () => ({ content: 'Filtered', finishReason: 'content_filter' }),
      () => ({ content: 'x'.repeat(50_000) }),
      () => null as never,
      () => ({ content: 7 as never }),
    ];
    for (const fail of failures) {
      const model = longModel({ answer: () => essay(), summary: (_, n) => fail(n) });
      const agent = longAgent(model).withCompaction({ atTokens: 3_000 }).build();
      const state = await talk(agent, 8);
      expect(state.status).toBe('completed');
      expect(state.compactions).toEqual([]);
      expect(state.messages).toHaveLength(16);
      const failed = state.steps.toJSON().filter(({ notes }) => notes.includes('summaryFailed'));
      expect(failed.length).toBe(model.summaries.length);
      expect(failed.length).toBeGreaterThan(0);
      expect(model.requests.at(-1)!.messages).toHaveLength(15);
    }
  });

  it('D68: results of tools are left out even if the summary fails', async () => {
    const model = longModel({
      answer: ({ messages }) => (messages.at(-1)!.isTool() ? essay() : call('look')),
      summary: () => ({ content: '' }),
    });
    const agent = longAgent(model).withCompaction({ atTokens: 4_000 }).build();
    const state = await talk(agent, 8);
    expect(state.status).toBe('completed');
    expect(new Set(kinds(state))).toEqual(new Set(['tool_results']));
    expect(model.requests.at(-1)!.messages.filter(({ text }) => text.startsWith('[Left out')))
      .not //
      .toEqual([]);
  });

  it('D70: the prefix of the request stays the same between compactions, budget notes included', async () => {
    const model = longModel({
      answer: ({ messages }) => (messages.at(-2)!.isTool() ? essay(60) : call('look')),
    });
    const agent = longAgent(model, 900)
      .withCompaction({ atTokens: 4_000 })
      .withBudgetNote()
      .withMaxTokens(10_000_000)
      .build();
    const state = await talk(agent, 25);
    expect(state.compactions.length).toBeGreaterThan(2);
    let broken = 0;
    const text = (request: SentRequest): string[] =>
      request.messages
        .filter(({ metadata }) => metadata['passing'] !== true)
        .map((message) => JSON.stringify(message));
    for (const [i, request] of model.requests.entries()) {
      const before = model.requests[i - 1];
      expect(request.system).toBe('You help.');
      expect(request.tools).toEqual(model.requests[0]!.tools);
      expect(request.messages.at(-1)!.text).toMatch(/^Budget used so far: /);
      if (!before) continue;
      const [older, newer] = [text(before), text(request)];
      if (!older.every((line, at) => line === newer[at])) broken += 1;
    }
    const moments = new Set(
      state.steps.toJSON().flatMap(({ id, compactions }) => (compactions ? [id] : [])),
    );
    expect(broken).toBe(moments.size);
    expect(broken).toBeLessThan(model.requests.length / 4);
  });

  it('D72: a request that is too long is tried again once with a shorter one, uncounted', async () => {
    const model = longModel({ answer: () => essay(), window: 2_500 });
    // the default policy stops on any error; nothing is known of the window
    const agent = longAgent(model).withCompaction().build();
    const events: AgentEvent[] = [];
    agent.wiretap((event) => events.push(event));
    const state = await talk(agent, 8);
    expect(state.status).toBe('completed');
    const all = state.steps.toJSON();
    const failed = all.filter(({ type }) => type === 'error');
    expect(failed.length).toBeGreaterThan(0);
    for (const step of failed) {
      expect(step.compacts).toBe(true);
      expect(step.waitMs).toBeUndefined();
      expect(
        step.outcome!.evaluations.find((one) => one.criterion === 'ErrorPolicyCriterion'),
      ).toMatchObject({
        decision: 'allow',
        reason: 'the conversation was too long for the model, continued with a shorter request',
        context: { handling: 'compact' },
      });
      expect(continuedBecause(step.outcome!)).toContain(
        'Continued with a shorter request because the conversation was too long for the model',
      );
      const next = all[all.indexOf(step) + 1]!;
      expect(next.type).toBe('final');
      expect(next.compactions).toMatchObject([{ kind: 'summary', reason: 'context_length' }]);
    }
    expect(state.execution.totalFailures).toBe(0);
    expect(events.filter(({ type }) => type === 'ContextCompacted')).toHaveLength(failed.length);
  });

  it('D72: where nothing is left to leave out, the run stops and says what to change', async () => {
    const model = longModel({ window: 50 });
    const agent = longAgent(model).withCompaction({ atTokens: 1_000 }).build();
    const state = await agent.run(AgentState.empty().withUserMessage('x'.repeat(4_000)));
    expect(state.stopReason).toBe('error');
    expect(model.requests).toHaveLength(1);
    expect(state.steps.at(-1)!.compacts).toBeUndefined();
    const { headline, actions } = state.lastContinuationOutcome!.explanation();
    expect(headline).toContain('the conversation is too long for the model');
    expect(actions).toMatchObject([{ kind: 'change' }]);
  });

  it('D72: a shorter request that is still too long is not shortened again', async () => {
    let window = Number.POSITIVE_INFINITY;
    const plain = longModel({ answer: () => essay() });
    const model = {
      ...plain,
      infer: (...[request, options]: Parameters<typeof plain.infer>) => {
        if (isSummaryRequest(request) || window > 100) return plain.infer(request, options);
        throw modelCallFailed({
          type: 'model',
          code: 'context_length',
          message: 'Too long',
          retryable: false,
        });
      },
    };
    const agent = longAgent(model).withCompaction().build();
    const before = await talk(agent, 6);
    window = 10;
    const state = await talk(agent, 1, before);
    expect(state.steps.toJSON().slice(-2)).toMatchObject([
      { type: 'error', compacts: true, attempt: 1 },
      { type: 'error', attempt: 2, compactions: [{ reason: 'context_length' }] },
    ]);
    expect(state.stopReason).toBe('error');
    expect(plain.summaries).toHaveLength(1);
    expect(state.lastContinuationOutcome!.explanation().actions).toMatchObject([
      { kind: 'change' },
    ]);
  });

  it('asks the limits again after a summary, and counts what it used', async () => {
    const model = longModel({
      answer: () => essay(),
      summary: () => ({ content: 'Short.', usage: { input: 5_000, output: 50 } }),
    });
    const agent = longAgent(model).withCompaction({ atTokens: 2_500 }).withMaxTokens(5_000).build();
    let state = AgentState.empty();
    for (let i = 0; model.summaries.length === 0; i++) state = await talk(agent, 1, state);
    const last = state.steps.at(-1);
    expect(state.stopReason).toBe('token_limit');
    expect(last).toMatchObject({
      type: 'cut',
      compactionUsage: { input: 5_000, output: 50 },
      modelUsage: { total: 0 },
      usage: { total: 5_050 },
    });
    expect(state.execution.usage.total).toBe(5_050);
    expect(model.summaries).toHaveLength(1);
    expect(state.compactions).toHaveLength(1);
  });

  it('counts a summary in the step, with the cost, beside the call of the step itself', async () => {
    const model = longModel({ answer: () => essay() });
    const agent = longAgent(model).withCompaction({ atTokens: 3_000 }).build();
    const state = await talk(agent, 8);
    const step = state.steps.toJSON().find(({ compactions }) => compactions)!;
    const { usage, modelUsage, compactionUsage } = step;
    expect(usage.total).toBe(modelUsage!.total + compactionUsage!.total);
    expect(step.cost).toBeCloseTo(0.002);
    const calls = model.requests.length + model.summaries.length;
    expect(state.info.cost).toBeCloseTo(calls * 0.001);
  });
});
