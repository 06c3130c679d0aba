import {
  AgentState,
  SlimAgentStateSerializer,
  type Agent,
  type AgentStatus,
  type SessionRuntime,
  type StopReason,
} from 'onward';
import { expect } from 'vitest';
import { ann, waiting } from './sessions.ts';
import { stored } from './states.ts';

export interface Ending {
  readonly status: AgentStatus;
  readonly stopReason: StopReason | null;
}

/** A conversation with an agent, in memory or in a session. */
export interface Turns {
  /** Sends `go` and resolves when the turn has ended or paused. */
  begin(): Promise<unknown>;
  /** Ends the running or paused turn. */
  stop(): Promise<unknown>;
  /** Requests a pause of the running turn. */
  pause(): Promise<unknown>;
  /** Answers every call that needs approval. */
  answer(answer: 'approve' | 'deny'): Promise<unknown>;
  /** Continues a paused turn. */
  resume(): Promise<unknown>;
  ending(): Promise<Ending>;
  /** Sends one more message to every stored form of the conversation and returns the outputs. */
  next(agent: Agent): Promise<readonly unknown[]>;
}

export function turnsInMemory(agent: Agent, isStreaming: boolean): Turns {
  const controller = new AbortController();
  let state: AgentState = AgentState.empty();
  let isPausing = false;
  let isRunning = false;
  const options = {
    signal: controller.signal,
    ...(isStreaming && { wiretap: () => {} }),
  };
  const slim = new SlimAgentStateSerializer();
  return {
    async begin() {
      isRunning = true;
      for await (const now of agent.iterate('go', options)) {
        state = now;
        if (isPausing) break;
      }
      isRunning = false;
    },
    async stop() {
      if (isRunning) controller.abort();
      else state = agent.stop(state);
    },
    pause: async () => (isPausing = true),
    async answer(answer) {
      const given = answer === 'approve' ? { approve: true as const } : { deny: 'no' };
      const entries = state.pendingApprovals.map(({ callId }) => [callId, given]);
      state = await agent.resume(state, { ...options, approvals: Object.fromEntries(entries) });
    },
    resume: async () => (state = await agent.resume(state, options)),
    ending: async () => state,
    async next(agent) {
      const outputs: unknown[] = [];
      for (const kept of [
        state,
        stored(state),
        slim.deserialize(JSON.stringify(slim.serialize(state))),
      ]) {
        const after = await agent.run(kept.withUserMessage('and now?'), {
          ...(isStreaming && { wiretap: () => {} }),
        });
        expect(after).toMatchObject({ status: 'completed' });
        outputs.push(after.output);
      }
      return outputs;
    },
  };
}

export function turnsInSession(
  runtime: SessionRuntime,
  id: string,
  next: (agent: Agent) => SessionRuntime,
): Turns {
  return {
    async begin() {
      await runtime.create({ id, ...ann });
      await runtime.send(id, 'go', waiting);
    },
    stop: () => runtime.stop(id, waiting),
    pause: () => runtime.pause(id, ann),
    async answer(answer) {
      const { pendingApprovals } = await runtime.get(id, ann);
      for (const { callId } of pendingApprovals)
        if (answer === 'approve') await runtime.approve(id, callId, ann);
        else await runtime.deny(id, callId, { ...ann, reason: 'no' });
      await runtime.wait(id, ann);
    },
    resume: () => runtime.resume(id, waiting),
    ending: () => runtime.get(id, ann),
    async next(agent) {
      const session = await next(agent).send(id, 'and now?', waiting);
      expect(session).toMatchObject({ status: 'completed' });
      return [session.output];
    },
  };
}
