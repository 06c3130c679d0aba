import { describe, expect, it } from 'vitest';
import { AgentBuilder } from '../agent/agent-builder.ts';
import { AgentState } from '../agent/agent-state.ts';
import { ErrorPolicy } from '../errors/error-policy.ts';
import { createRedactor, type Redactor } from '../errors/redactor.ts';
import { Message } from '../messages/message.ts';
import { DeterministicDriver } from '../testing/deterministic-driver.ts';
import { mockTool } from '../testing/mock-tool.ts';
import { ScenarioStep } from '../testing/scenario-step.ts';
import { SlimAgentStateSerializer } from './slim-agent-state-serializer.ts';
import { SlimSerializationConfig } from './slim-serialization-config.ts';

const key = 'sk-proj-CANARY0123456789abcdefghij';
const word = 'CANARY-hunter2';

/** Redacts nothing, so that the state holds every secret and only the serializer hides them. */
const blind: Redactor = {
  text: (text) => text,
  value: (value) => value,
  isSecretKey: () => false,
};

/** A state with a secret in every place that a user, a model or a tool can write to. */
async function leaky(): Promise<AgentState> {
  const first = AgentState.empty()
    .withMetadata({ tenant: 'north', apiKey: word, note: `use ${key}` })
    .withMessages(Message.system(`The key is ${key}.`))
    .withUserMessage([
      { type: 'text', text: `My key: ${key}` },
      { type: 'image', url: `https://me:${word}@files.test/a.png` },
      { type: 'file', data: 'AAAA', filename: `${key}.txt` },
    ]);
  return AgentBuilder.base()
    .withRedactor(blind)
    .withErrorPolicy(ErrorPolicy.retryAll().withBackoff({ initialMs: 0 }))
    .addContinuationCriteria({
      name: 'Chatty',
      evaluate: () =>
        ({ decision: 'allow', reason: `saw ${key}`, context: { password: word } }) as never,
    })
    .withTools(
      mockTool('login', { token: word, link: `Bearer ${key}` }),
      mockTool('broken', () => {
        throw new Error(`refused ${key}`);
      }),
      mockTool('danger', 'ok', { needsApproval: true }),
      mockTool('pause', (_: unknown, context: { requestPause(reason: string): void }) =>
        context.requestPause(`waits for ${key}`),
      ),
    )
    .withDriver(
      DeterministicDriver.fromSteps(
        ScenarioStep.error(`401 for ${key}`),
        ScenarioStep.toolCall('login', { password: word, hint: key }, `Using ${key}.`),
        ScenarioStep.toolCalls([{ name: 'login', argsRaw: `{"password": "${word}", ` }]),
        ScenarioStep.toolCall('broken', {}, '', { reasoning: `The key ${key}` }),
        ScenarioStep.toolCalls([
          { name: 'login', args: { hint: key } },
          { name: 'broken', args: { hint: key } },
          { name: 'danger', args: { secret: word, hint: key } },
        ]),
      ),
    )
    .build()
    .run(first);
}

const configs = {
  ...SlimSerializationConfig,
  tight: () => ({ ...SlimSerializationConfig.full(), maxContentLength: 12 }),
  small: () => ({ ...SlimSerializationConfig.full(), maxBytes: 6000 }),
};

describe('secrets', () => {
  it.each(Object.entries(configs))('are not in the %s form', async (_name, config) => {
    const state = await leaky();
    expect(JSON.stringify(state)).toContain('CANARY');
    const slim = new SlimAgentStateSerializer(config()).serialize(state);
    expect(JSON.stringify(slim)).not.toContain('CANARY');
    expect(slim.truncated?.redacted).toBeGreaterThan(0);
  });

  it('are redacted before texts are truncated', () => {
    const state = AgentState.empty().withUserMessage(`${key} is my key`);
    const slim = new SlimAgentStateSerializer({ maxContentLength: 14 }).serialize(state);
    expect(slim.messages[0]?.content).toBe('[redacted] is …');
  });

  it('in an open execution prevent a resume, because they were redacted', async () => {
    const state = await leaky();
    expect(state.status).toBe('paused');
    const serializer = new SlimAgentStateSerializer(SlimSerializationConfig.full());
    const slim = serializer.serialize(state);
    expect(slim.truncated?.missing.join()).toMatch(/\d+ values hidden as secret/);
    expect(serializer.deserialize(slim).status).toBe('stopped');
  });

  it('in an older turn do not prevent a resume', async () => {
    const agent = AgentBuilder.base()
      .withTools(mockTool('danger', 'ok', { needsApproval: true }))
      .withDriver(
        DeterministicDriver.fromSteps('noted', ScenarioStep.toolCall('danger', { id: 7 })),
      )
      .build();
    const noted = await agent.run(`My key is ${key}.`);
    const state = await agent.run(noted.withUserMessage('Delete 7.'));
    const serializer = new SlimAgentStateSerializer();
    const slim = serializer.serialize(state);
    expect(slim.truncated).toMatchObject({ redacted: 1, missing: [] });
    expect(serializer.deserialize(slim).status).toBe('paused');
  });

  it('are redacted by a custom redactor, and kept with null', async () => {
    const state = await leaky();
    const mine = createRedactor({ keys: ['tenant'], patterns: [/CANARY/] });
    const slim = new SlimAgentStateSerializer(SlimSerializationConfig.full(), {
      redactor: mine,
    }).serialize(state);
    expect(slim.metadata).toMatchObject({ tenant: '[redacted]' });
    const open = new SlimAgentStateSerializer(SlimSerializationConfig.full(), { redactor: null });
    expect(JSON.stringify(open.serialize(state))).toContain(key);
    expect(open.deserialize(open.serialize(state)).status).toBe('paused');
  });

  it('are never redacted in ids, which link the document', async () => {
    const state = await leaky();
    const greedy = createRedactor({ patterns: [/[a-z]+_[0-9a-z]+/] });
    const slim = new SlimAgentStateSerializer(SlimSerializationConfig.full(), {
      redactor: greedy,
    }).serialize(state);
    expect(slim.messages.map(({ id }) => id)).toEqual(state.messages.slice(0).map(({ id }) => id));
    expect(slim.current_step?.tool_calls[2]?.id).toBe(state.pendingApprovals[0]?.callId);
  });
});
