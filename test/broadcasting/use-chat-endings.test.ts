import type { AgentEvent } from 'onward';
import {
  uiMessageResponse,
  uiMessageStream,
  type UiMessageChunk,
} from 'onward/broadcasting/use-chat';
import { mockTool, ScenarioStep } from 'onward/testing';
import { describe, expect, it, vi } from 'vitest';
import { builderWith, pause } from '../setup/sessions.ts';
import { chunksOfRun, script, typesOf } from './use-chat-run.ts';
import { all, chunksIn, readBy, shown } from './use-chat-setup.ts';

const { toolCall, final, stream, error } = ScenarioStep;

describe('the end of a stream', () => {
  it('D02: explains a limit and how to continue', async () => {
    const chunks = await chunksOfRun(
      builderWith(script(toolCall('look')), mockTool('look')).withMaxSteps(1),
    );
    const { message, errors } = await readBy(chunks);
    expect(errors).toEqual([]);
    const stop = message.parts.find((part) => part.type === 'data-onward-stop');
    expect(stop).toMatchObject({
      id: 'onward-stop',
      data: {
        status: 'stopped',
        stop_reason: 'steps_limit',
        resolved_by: 'StepsLimit',
        step_count: 1,
      },
    });
    expect(stop?.data.message).toContain('it used 1 of 1 step');
    expect(stop?.data.remedy?.text).toContain('withMaxSteps');
    expect(chunks.at(-1)).toEqual({ type: 'finish', finishReason: 'other' });
  });

  it('has an error chunk last if the run failed', async () => {
    const chunks = await chunksOfRun(builderWith(script(error('the model is away'))));
    expect(typesOf(chunks).slice(-4)).toEqual([
      'data-onward-status',
      'message-metadata',
      'finish',
      'error',
    ]);
    const { message, errors } = await readBy(chunks);
    expect(errors).toHaveLength(1);
    expect(errors[0]).toContain('the model is away');
    expect(message.parts.at(-1)).toMatchObject({
      type: 'data-onward-stop',
      data: { status: 'failed', stop_reason: 'error' },
    });
  });

  it('is an abort after a stop by the user, and keeps the text', async () => {
    const abort = new AbortController();
    const agent = builderWith(
      script({ ...stream(['one ', 'two']), extras: { hangs: true } }),
    ).build();
    const events = agent.stream('go', {
      signal: abort.signal,
      wiretap: (e) => {
        if (e.type === 'StreamChunk' && e.content === 'two') abort.abort('enough');
      },
    });
    const chunks = await all(uiMessageStream(events));
    expect(typesOf(chunks)).not.toContain('finish');
    expect(chunks.at(-1)).toMatchObject({ type: 'abort' });
    const { message } = await readBy(chunks);
    expect(shown(message)).toMatchObject([
      { type: 'step-start' },
      { type: 'text', text: 'one two' },
      { type: 'data-onward-stop', data: { status: 'cancelled', stop_reason: 'user_requested' } },
    ]);
  });

  it('has the finish reason of a truncated answer', async () => {
    const chunks = await chunksOfRun(
      builderWith(script(final('half', { finishReason: 'length' }))).withFinishReasons('length'),
    );
    expect(chunks.at(-1)).toEqual({ type: 'finish', finishReason: 'length' });
  });

  it('is an error without details if the source throws', async () => {
    const seen: unknown[] = [];
    const broken = async function* (): AsyncGenerator<AgentEvent> {
      yield* [];
      throw new Error('postgres://ann:secret@db failed');
    };
    const chunks = await all(uiMessageStream(broken(), { onError: (e) => seen.push(e) }));
    expect(chunks).toEqual([
      { type: 'error', errorText: 'The run can no longer be followed. Reload the chat.' },
    ]);
    expect(seen).toHaveLength(1);
  });

  it('stops the run if the reader cancels the stream', async () => {
    const agent = builderWith(script({ ...stream(['one']), extras: { hangs: true } })).build();
    const events = agent.stream('go');
    const reader = uiMessageStream(events).getReader();
    await reader.read();
    await reader.cancel();
    expect((await events.result).stopReason).toBe('user_requested');
  });
});

describe('the response', () => {
  const one = async function* (): AsyncGenerator<UiMessageChunk> {
    yield { type: 'start-step' };
  };

  it('has server-sent events that the AI SDK transport reads', async () => {
    const response = uiMessageResponse(one(), { headers: { 'x-mine': 'yes' } });
    expect(response.headers.get('x-mine')).toBe('yes');
    expect(response.headers.get('cache-control')).toContain('no-cache');
    expect(await response.clone().text()).toBe('data: {"type":"start-step"}\n\ndata: [DONE]\n\n');
    expect(await chunksIn(response)).toEqual([{ type: 'start-step' }]);
  });

  it('sends heartbeats', async () => {
    const slow = async function* (): AsyncGenerator<UiMessageChunk> {
      await pause(40);
      yield { type: 'start-step' };
    };
    const text = await uiMessageResponse(slow(), { heartbeatMs: 10 }).text();
    expect(text).toMatch(/^(: still here\n\n)+data: \{"type":"start-step"\}\n\n/);
  });

  it('fails with its source and clears its timer', async () => {
    const broken = async function* (): AsyncGenerator<UiMessageChunk> {
      yield { type: 'start-step' };
      throw new Error('gone');
    };
    const clear = vi.spyOn(globalThis, 'clearInterval');
    await expect(uiMessageResponse(broken()).text()).rejects.toThrow('gone');
    expect(clear).toHaveBeenCalledOnce();
    clear.mockRestore();
  });
});
