import { describe, expect, it } from 'vitest';
import type { AgentEvent } from '../../events/agent-event.ts';
import type { LiveEvent } from './live-source.ts';
import { LiveTexts } from './live-texts.ts';

const live = (sessionId: string, seq: number | null, event: object): LiveEvent => ({
  sessionId,
  owner: 'ann',
  seq,
  follows: 4,
  event: { agentId: 'a', parentAgentId: null, executionId: 'e1', index: 0, ...event } as AgentEvent,
});
const chunk = (content: string, offset: number, more: object = {}): object => ({
  type: 'StreamChunk',
  messageId: 'm1',
  stepNumber: 1,
  attempt: 1,
  content,
  offset,
  ...more,
});
const contentsOf = (texts: LiveTexts, sessionId = 's1'): string[] =>
  texts
    .of(sessionId)
    ?.events.map(({ event }) => ('content' in event ? event.content : event.argsDelta)) ?? [];

describe('the text so far', () => {
  it('has each text from its beginning until the log has it', () => {
    const texts = new LiveTexts();
    texts.note(live('s1', null, { ...chunk('Let ', 0), type: 'ReasoningDelta' }));
    for (const [i, word] of ['All ', 'is '].entries())
      texts.note(live('s1', null, chunk(word, [0, 4][i]!, { index: i })));
    texts.note(live('s1', null, chunk('nested', 0, { agentId: 'b', parentAgentId: 'a' })));
    // the beginning of this text was not seen
    texts.note(live('s1', null, chunk('middle', 9, { agentId: 'c' })));
    for (const [args, offset] of [
      ['{"q', 0],
      ['":1}', 3],
    ] as const)
      texts.note(
        live('s1', null, {
          type: 'ToolCallDelta',
          toolCallId: 'c1',
          tool: 't',
          argsDelta: args,
          offset,
        }),
      );
    expect(contentsOf(texts)).toEqual(['Let ', 'All ', 'is ', '{"q":1}', 'nested']);
    expect(texts.of('s1')?.events.map(({ event }) => event.index)).toEqual([0, 0, 1, 0, 0]);
    texts.note(live('s1', 5, { type: 'MessageAdded', messageId: 'm1', role: 'assistant' }));
    expect(contentsOf(texts)).toEqual(['{"q":1}', 'nested']);
    expect(texts.of('s1')?.follows).toBe(5);
    texts.note(live('s1', 6, { type: 'ToolCallStarted', toolCallId: 'c1' }));
    texts.note(live('s1', 7, { type: 'AgentStepCompleted', agentId: 'b' }));
    texts.note(live('s1', 8, { type: 'AgentStepCompleted' }));
    expect(texts.of('s1')).toBeNull();
  });

  it('begins again after a discard, and ends with the run or the execution', () => {
    const texts = new LiveTexts();
    texts.note(live('s1', null, chunk('void', 0)));
    texts.note(live('s1', 5, { type: 'StreamDiscarded', stepNumber: 1, attempt: 1 }));
    texts.note(live('s1', null, chunk('new', 0, { restart: 1 })));
    expect(contentsOf(texts)).toEqual(['new']);
    texts.note(live('s1', null, chunk('other', 0, { executionId: 'e2' })));
    expect(contentsOf(texts)).toEqual(['other']);
    texts.note(live('s1', 9, { type: 'AgentFinished', executionId: 'e2' }));
    expect(texts.of('s1')).toBeNull();
  });

  it('is limited for each session and in total', () => {
    const texts = new LiveTexts();
    const long = 'x'.repeat(10_000);
    for (let s = 0; s < 1_000; s++)
      for (let i = 0; i < 40; i++) texts.note(live(`s${s}`, null, chunk(long, i * 10_000)));
    expect(contentsOf(texts, 's999')).toHaveLength(26);
    const kept = Array.from({ length: 1_000 }, (_s, s) => contentsOf(texts, `s${s}`).length);
    expect(kept.filter((count) => count > 0).length).toBeLessThan(140);
  });
});
