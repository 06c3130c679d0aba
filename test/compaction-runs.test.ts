import {
  AgentBuilder,
  AgentState,
  SlimAgentStateSerializer,
  type AgentEvent,
  type Message,
} from 'onward';
import type { InferenceRequest } from 'onward/drivers';
import { guardInput } from 'onward/capabilities';
import { mockTool } from 'onward/testing';
import { describe, expect, it } from 'vitest';
import { modelView } from '../src/agent/model-view.ts';
import {
  call,
  isSummaryRequest,
  longAgent,
  longModel,
  type LongModel,
} from './setup/long-conversations.ts';

const essay = () => ({ content: 'word '.repeat(400) });

/** Talks until a model has written a summary. */
async function untilSummary(
  agent: { run(state: AgentState): Promise<AgentState> },
  model: LongModel,
): Promise<AgentState> {
  let state = AgentState.empty();
  for (let i = 0; model.summaries.length === 0 && i < 30; i++)
    state = await agent.run(state.withUserMessage(`Question ${i}`));
  return state;
}
const noted = (messages: Iterable<Message>): Message[] =>
  [...messages].filter(({ text }) => text.startsWith('<record_of_earlier_messages>'));

describe('compaction in runs', () => {
  it('passes the hooks around model calls, which see everything that is sent', async () => {
    const model = longModel({ answer: essay });
    const seen: InferenceRequest[] = [];
    const agent = longAgent(model)
      .withCompaction({ atTokens: 3_000 })
      .withHooks({
        name: 'watch',
        aroundModelCall: (request, next) => (seen.push(request), next(request)),
      })
      .build();
    await untilSummary(agent, model);
    expect(seen.filter(isSummaryRequest)).toHaveLength(1);
    expect(seen).toHaveLength(model.requests.length + 1);
  });

  it('never sends the model for summaries what a guard has blocked', async () => {
    const model = longModel({ answer: essay });
    const agent = longAgent(model)
      .withCompaction({ atTokens: 3_000 })
      .withCapability(
        guardInput({
          name: 'no-cards',
          check: ({ text }) => (text.includes('4111') ? { block: 'a card' } : undefined),
        }),
      )
      .build();
    let state = await agent.run(AgentState.empty().withUserMessage('Hello'));
    state = await agent.run(state.withUserMessage('My card is 4111 1111'));
    expect(state.stopReason).toBe('guard');
    for (let i = 0; model.summaries.length < 2 && i < 30; i++)
      state = await agent.run(state.withUserMessage(`Question ${i}`));
    expect(state.compactions.length).toBeGreaterThan(1);
    // the guard ran beside the second request
    const later = [...model.summaries, ...model.requests.slice(2)];
    expect(JSON.stringify(later)).not.toContain('4111');
  });

  it('a nested agent has its own conversation, and its summaries count in the family', async () => {
    const inner = longModel({
      answer: (_, n) => (n < 30 ? { ...call('look', { n }), ...essay() } : { content: 'Done.' }),
    });
    const child = longAgent(inner, 100)
      .withName('reader')
      .withCompaction({ atTokens: 3_000 })
      .build();
    const outer = longModel({
      answer: ({ messages }) =>
        messages.at(-1)!.isTool() ? { content: 'Read.' } : call('reader', { input: 'Read all.' }),
    });
    const agent = AgentBuilder.base()
      .withModel(outer)
      .withTools(child.asTool({ name: 'reader', description: 'Reads.' }))
      .withCompaction({ atTokens: 100_000 })
      .withMaxFamilySteps(100)
      .build();
    const events: AgentEvent[] = [];
    const state = await agent.run('Read everything.', { wiretap: (event) => events.push(event) });
    expect(state.status).toBe('completed');
    expect(state.compactions).toEqual([]);
    const made = events.filter(({ type }) => type === 'ContextCompacted');
    expect(made.length).toBe(inner.summaries.length);
    expect(made.length).toBeGreaterThan(2);
    expect(made.every(({ parentAgentId }) => parentAgentId === state.agentId)).toBe(true);
    const calls = inner.requests.length + inner.summaries.length + outer.requests.length;
    expect(state.info.cost).toBeCloseTo(calls * 0.001);
    const [share] = state.execution.family!;
    expect(share!.cost).toBeCloseTo((inner.requests.length + inner.summaries.length) * 0.001);
  });

  it('a process that dies behind the write leaves a compaction that the next one uses and counts once', async () => {
    const answered = longModel({ answer: essay });
    const agent = longAgent(answered).withCompaction({ atTokens: 3_000 }).build();
    let before = AgentState.empty();
    while (answered.summaries.length === 0) {
      const asked = before.withUserMessage('More.');
      const next = await agent.run(asked);
      if (answered.summaries.length > 0) {
        // the state that was written before the model call of the step
        const written = asked.with({
          compactions: next.compactions,
          status: 'in_progress',
          execution: {
            ...next.execution,
            stepCount: 0,
            answeredSteps: 0,
            usage: next.compactions[0]!.usage,
            cost: 0.001,
          },
          lastContinuationOutcome: null,
        });
        const model = longModel({ answer: essay });
        const other = longAgent(model).withCompaction({ atTokens: 3_000 }).build();
        const again = await other.resume(
          AgentState.from(JSON.parse(JSON.stringify(written)) as never),
        );
        expect(again.status).toBe('completed');
        expect(model.summaries).toEqual([]);
        expect(noted(model.requests[0]!.messages)).toHaveLength(1);
        expect(again.steps.at(-1)).toMatchObject({
          compactions: [{ id: next.compactions[0]!.id }],
          compactionUsage: next.compactions[0]!.usage,
        });
        expect(again.usage).toEqual(again.steps.at(-1)!.usage);
        expect(again.execution.cost).toBeCloseTo(0.002);
        return;
      }
      before = next;
    }
  });

  it('is written before the model call that is based on it', async () => {
    const order: string[] = [];
    const model = longModel({ answer: () => (order.push('call'), essay()) });
    const agent = longAgent(model).withCompaction({ atTokens: 3_000 });
    const { AgentJournal } = await import('../src/sessions/agent-journal.ts');
    const compacted = AgentJournal.prototype.compacted;
    AgentJournal.prototype.compacted = async function (state) {
      await compacted.call(this, state);
      order.push(`written ${state.compactions.length}`);
    };
    try {
      const { SessionRuntime } = await import('onward');
      const { memoryStore } = await import('onward/stores/memory');
      const runtime = new SessionRuntime({
        store: memoryStore(),
        agents: [agent.withName('a').build()],
      });
      await runtime.create({ owner: 'ann', id: 's' });
      for (let i = 0; model.summaries.length === 0 && i < 20; i++)
        await runtime.send('s', `Question ${i}`, { owner: 'ann', wait: true });
      expect(order.slice(-2)).toEqual(['written 1', 'call']);
      await runtime.close();
    } finally {
      AgentJournal.prototype.compacted = compacted;
    }
  });

  it('works with open approvals: results come behind their calls, and the step keeps what it compacted', async () => {
    const model = longModel({
      answer: ({ messages }) =>
        messages.at(-1)!.isUser() && messages.at(-1)!.text === 'Send it.'
          ? { ...call('send_mail'), ...essay() }
          : essay(),
    });
    const agent = longAgent(model)
      .withTools(mockTool('send_mail', 'sent', { needsApproval: true }))
      .withCompaction({ atTokens: 3_000 })
      .build();
    let state = AgentState.empty();
    while (model.summaries.length === 0) {
      state = await agent.run(state.withUserMessage('Send it.'));
      expect(state.status).toBe('paused');
      const stored = AgentState.from(JSON.parse(JSON.stringify(state)) as never);
      const [{ callId } = { callId: '' }] = stored.pendingApprovals;
      state = await agent.resume(stored, { approvals: { [callId]: { approve: true } } });
      expect(state.status).toBe('completed');
    }
    const step = state.steps.toJSON().find(({ compactions }) => compactions)!;
    expect(step.compactionUsage!.total).toBeGreaterThan(0);
    expect(modelView(state.messages, state.compactions).pairingProblem()).toBeNull();
  });

  it('a fork before a compaction does not have it', async () => {
    const model = longModel({ answer: essay });
    const agent = longAgent(model).withCompaction({ atTokens: 3_000 }).build();
    const states: AgentState[] = [];
    let state = AgentState.empty();
    for (let i = 0; i < 10; i++)
      states.push((state = await agent.run(state.withUserMessage(`Q${i}`))));
    const early = states.find(({ compactions }) => compactions.length === 0)!;
    const other = await agent.run(early.withUserMessage('Another way'));
    expect(other.compactions).toEqual([]);
    expect(noted(model.requests.at(-1)!.messages)).toEqual([]);
    expect(model.requests.at(-1)!.messages).toHaveLength(early.messages.length + 1);
  });

  it('a stop during a summary ends the run, and nothing is left out', async () => {
    const stop = new AbortController();
    const model = longModel({
      answer: essay,
      summary: () => (stop.abort('enough'), { content: 'Late.' }),
    });
    const agent = longAgent(model).withCompaction({ atTokens: 3_000 }).build();
    let state = AgentState.empty();
    for (let i = 0; state.stopReason !== 'user_requested' && i < 20; i++)
      state = await agent.run(state.withUserMessage(`Q${i}`), { signal: stop.signal });
    expect(state.stopReason).toBe('user_requested');
    expect(state.steps.at(-1)).toMatchObject({ type: 'cut' });
    expect(state.compactions).toEqual([]);
  });

  it('works without reported usage, and counts images', async () => {
    const image = { type: 'image', data: 'iVBORw0KGgo=', mediaType: 'image/png' } as const;
    const model = longModel({ answer: () => ({ content: 'Nice.' }), reports: false });
    const agent = longAgent(model).withCompaction({ atTokens: 6_000 }).build();
    let state = AgentState.empty();
    for (let i = 0; i < 8; i++)
      state = await agent.run(state.withUserMessage([{ type: 'text', text: `Look ${i}` }, image]));
    expect(state.compactions.length).toBeGreaterThan(0);
    expect(model.requests.at(-1)!.messages.length).toBeLessThan(15);
    expect(state.messages).toHaveLength(16);
  });

  it('an agent without compaction uses the summaries that a state has', async () => {
    const model = longModel({ answer: essay });
    const state = await untilSummary(
      longAgent(model).withCompaction({ atTokens: 3_000 }).build(),
      model,
    );
    const other = longModel({ answer: essay });
    await longAgent(other).build().run(state.withUserMessage('And?'));
    expect(noted(other.requests[0]!.messages)).toHaveLength(1);
    expect(other.requests[0]!.messages.length).toBeLessThan(state.messages.length);
  });

  it('the slim form keeps the newest summary whole, where it belongs', async () => {
    const text = 'A record of everything. '.repeat(100).trim();
    const model = longModel({ answer: essay, summary: () => ({ content: text }) });
    const agent = longAgent(model).withCompaction({ atTokens: 3_000 }).build();
    const state = await untilSummary(agent, model);
    for (const maxMessages of [null, 1, 4, 50]) {
      const slim = new SlimAgentStateSerializer({ maxMessages, maxContentLength: 50 });
      const document = slim.serialize(state);
      expect(document.version).toBe(2);
      const again = slim.deserialize(JSON.parse(JSON.stringify(document)) as never);
      expect(again.compactions).toMatchObject([{ kind: 'summary', text }]);
      const view = modelView(again.messages, again.compactions);
      expect(view.pairingProblem()).toBeNull();
      expect(noted(view)).toHaveLength(1);
      const ids = [...modelView(state.messages, state.compactions)].map(({ id }) => id);
      const shown = [...view].map(({ id }) => id);
      expect(ids.filter((id) => shown.includes(id))).toEqual(shown);
    }
  });
});
