import { describe, expect, it } from 'vitest';
import type { AgentEvent } from '../events/agent-event.ts';
import type { SessionRuntime } from '../sessions/session-runtime.ts';
import { LiveTexts } from './live-texts.ts';

const base = { agentId: 'a', parentAgentId: null, executionId: 'e', index: 0, at: 'now' };

/** Hands on what a runtime tells. */
function telling() {
  const runtime = {} as SessionRuntime; // only its name is used
  const users = [LiveTexts.keep(runtime)];
  const tell = (type: AgentEvent['type'], fields: object = {}, sessionId = 's'): void => {
    const event = { ...base, type, ...fields } as AgentEvent;
    for (const { hear } of users) hear({ sessionId, owner: 'ann', seq: null, event });
  };
  const chunk = (content: string, offset: number, more: object = {}, sessionId = 's'): void =>
    tell(
      'StreamChunk',
      { messageId: 'm', stepNumber: 1, attempt: 1, content, offset, ...more },
      sessionId,
    );
  const delta = (argsDelta: string, offset: number, toolCallId = 'c'): void =>
    tell('ToolCallDelta', { toolCallId, tool: 't', argsDelta, offset });
  const said = (sessionId = 's', executionId = 'e'): string[] =>
    LiveTexts.of(runtime, sessionId, executionId).map(({ payload }) =>
      'content' in payload
        ? `${payload.message_id} ${payload.content}`
        : `${payload.tool_call_id} ${payload.args_delta}`,
    );
  return { runtime, users, tell, chunk, delta, said };
}

describe('what is being said', () => {
  it('is put together from its beginning, for each agent and each call', () => {
    const { runtime, chunk, delta, said } = telling();
    chunk('Let ', 0);
    chunk('nes', 0, { agentId: 'b', parentAgentId: 'a', messageId: 'n' });
    chunk('me', 4);
    delta('{"q', 0);
    delta('{}', 0, 'd');
    delta('":1', 3);
    chunk('ted', 3, { agentId: 'b', parentAgentId: 'a', messageId: 'n' });
    expect(said()).toEqual(['m Let me', 'c {"q":1', 'd {}', 'n nested']);
    expect(LiveTexts.of(runtime, 's', 'e')[0]).toMatchObject({
      session_id: 's',
      seq: null,
      payload: { chunk_index: 0, offset: 0, is_complete: false },
    });
    expect(said('s', 'other')).toEqual([]);
    expect(said('other')).toEqual([]);
  });

  it('is gone as soon as the log has it: a text, a call, a step, a run', () => {
    const { tell, chunk, delta, said } = telling();
    const speak = (): void => {
      chunk('text', 0);
      delta('{1', 0);
      delta('{2', 0, 'd');
    };
    speak();
    tell('MessageAdded', { messageId: 'm' });
    expect(said()).toEqual(['c {1', 'd {2']);
    tell('ToolCallStarted', { toolCallId: 'c' });
    expect(said()).toEqual(['d {2']);
    tell('ToolApprovalRequested', { toolCallId: 'd' });
    expect(said()).toEqual([]);
    speak();
    tell('AgentStepCompleted', { agentId: 'other' });
    expect(said()).toHaveLength(3);
    for (const type of ['AgentStepCompleted', 'AgentFinished', 'AgentPaused'] as const) {
      tell(type);
      expect(said()).toEqual([]);
      speak();
    }
    chunk('next run', 0, { executionId: 'e2' });
    expect(said()).toEqual([]);
    expect(said('s', 'e2')).toEqual(['m next run']);
  });

  it('begins anew with a restart, and without its beginning there is nothing', () => {
    const { tell, chunk, delta, said } = telling();
    chunk('middle', 40);
    delta('"middle"', 12);
    expect(said()).toEqual([]);
    chunk('void', 0);
    tell('StreamDiscarded', { stepNumber: 1, attempt: 1 });
    expect(said()).toEqual([]);
    chunk('again', 0, { restart: 1 });
    chunk('late', 5);
    chunk('!', 5, { restart: 1 });
    expect(said()).toEqual(['m again!']);
    // a hole: what is kept stays a beginning
    chunk('behind a hole', 100, { restart: 1 });
    expect(said()).toEqual(['m again!']);
  });

  it('ends with the run for all its agents, and an agent inside ends alone', () => {
    const { tell, chunk, said } = telling();
    const inner = { agentId: 'b', parentAgentId: 'a', messageId: 'n' };
    chunk('outer', 0);
    chunk('inner', 0, inner);
    tell('AgentFinished', { agentId: 'b', parentAgentId: 'a' });
    expect(said()).toEqual(['m outer']);
    for (const type of ['AgentFinished', 'AgentFailed', 'AgentPaused'] as const) {
      chunk('inner', 0, inner);
      tell(type);
      expect(said()).toEqual([]);
    }
  });

  it('has room again for each text and each call that the log has', () => {
    const { tell, chunk, delta, said } = telling();
    const text = 'x'.repeat(0x20000);
    for (let i = 0; i < 5; i++) {
      chunk(text, 0);
      delta(text, 0);
      expect(said()).toHaveLength(2);
      tell('MessageAdded', { messageId: 'm' });
      tell('ToolCallStarted', { toolCallId: 'c' });
    }
    for (let i = 0; i < 5; i++) {
      chunk(text, 0, { restart: i });
      delta(text, 0);
      expect(said()).toHaveLength(2);
      tell('AgentStepCompleted');
    }
  });

  it('is bounded, for each session and for all', () => {
    const { chunk, said } = telling();
    const text = 'x'.repeat(0x10000);
    for (let i = 0; i < 10; i++) chunk(text, i * text.length);
    expect(said()[0]).toHaveLength(0x40000 + 2);
    for (let s = 0; s < 600; s++) chunk(text, 0, {}, `s${s}`);
    expect(said()).toEqual([]);
    const kept = Array.from({ length: 600 }, (_s, i) => said(`s${i}`).length);
    expect(kept.filter(Boolean)).toHaveLength(512);
    expect(kept.at(-1)).toBe(1);
  });

  it('is kept once for all who broadcast, until the last of them closes', () => {
    const { runtime, users, chunk, said } = telling();
    users.push(LiveTexts.keep(runtime));
    chunk('te', 0);
    chunk('xt', 2);
    expect(said()).toEqual(['m text']);
    users[0]!.leave();
    users[0]!.leave();
    expect(said()).toEqual(['m text']);
    users[1]!.leave();
    expect(said()).toEqual([]);
  });
});
