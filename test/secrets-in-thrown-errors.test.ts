import { AgentBuilder, AgentError, createAgent, defineTool } from 'onward';
import { modelCallFailed } from 'onward/drivers';
import { DeterministicDriver, mockTool } from 'onward/testing';
import { describe, expect, it } from 'vitest';
import { byKey, byLook, leakIn, words } from './setup/canary.ts';
import { callsTool } from './setup/outlets.ts';

describe('D43: thrown errors', () => {
  const thrownBy = async (work: () => unknown): Promise<AgentError> => {
    try {
      await work();
    } catch (error) {
      if (AgentError.is(error)) return error;
    }
    throw new Error('nothing was thrown');
  };
  const paused = () =>
    createAgent({
      driver: callsTool(),
      tools: [
        mockTool('vault', 'ok', {
          needsApproval: true,
          parameters: { type: 'object', properties: { note: { type: 'string' } } },
        }),
      ],
    });

  it.each<[string, () => unknown]>([
    ['a key instead of a model', () => AgentBuilder.base().withModel(byLook).build()],
    ['a key instead of a tool', () => AgentBuilder.base().withTools(byLook as never)],
    ['a key instead of a tool name', () => defineTool({ name: byLook } as never)],
    ['a key instead of a tool choice', () => AgentBuilder.base().withToolChoice(byLook as never)],
    [
      'an invalid approval answer',
      async () => {
        const agent = paused();
        const state = await agent.run('go');
        await agent.resume(state, { approvals: { call_1: byLook as never } });
      },
    ],
    [
      'invalid edited arguments',
      async () => {
        const agent = paused();
        const state = await agent.run('go');
        const args = { note: { password: byKey, apiKey: byLook } };
        await agent.resume(state, { approvals: { call_1: { approve: true, args } } });
      },
    ],
    [
      'an invalid state document',
      async () => createAgent({ driver: callsTool() }).run({ version: byLook } as never),
    ],
    [
      'a direct driver call',
      () => {
        throw modelCallFailed({ type: 'model', code: 'auth', message: words });
      },
    ],
  ])('%s', async (_what, work) => {
    const builtToo = () => {
      const made = work();
      return made instanceof AgentBuilder
        ? made.withDriver(DeterministicDriver.fromResponses()).build()
        : made;
    };
    const { message, details, stack, cause } = await thrownBy(builtToo);
    const texts = { message, details: JSON.stringify(details), stack, cause: String(cause) };
    for (const [part, text] of Object.entries(texts)) {
      const leak = text?.includes(byLook) || text?.includes(byKey) ? leakIn(text) : null;
      expect({ part, leak }).toEqual({ part, leak: null });
    }
  });
});
