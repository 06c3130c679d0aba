import { describe, expect, it } from 'vitest';
import { Cancellation, Cancelled } from '../cancellation.ts';
import { Messages } from '../messages/messages.ts';
import { fakeClock } from '../testing/fake-clock.ts';
import { callTool, ToolTimeout, type CallFrame } from './call-tool.ts';
import { defineTool } from './define-tool.ts';
import type { Tool, ToolContext } from './tool.ts';

const clock = fakeClock();

function frame(more: Partial<CallFrame> = {}): CallFrame & { readonly asked: string[] } {
  const asked: string[] = [];
  return {
    asked,
    state: {
      agentId: 'agent-1',
      agentName: 'support',
      parentAgentId: null,
      stepCount: 2,
      messages: Messages.empty(),
      metadata: { tenant: 'acme' },
      execution: { id: 'exec-1' },
    },
    deps: { db: 'live' },
    cancellation: new Cancellation(),
    clock,
    requestStop: (reason) => asked.push(`stop: ${reason}`),
    requestPause: (reason) => asked.push(`pause: ${reason}`),
    reportProgress: (name, callId, progress) =>
      asked.push(`${name} ${callId}: ${JSON.stringify(progress)}`),
    ...more,
  };
}

const tool = (execute: (args: unknown, context: ToolContext) => unknown, timeoutMs = 1000): Tool =>
  defineTool({ name: 'work', description: 'Works.', execute, timeoutMs });

const call = (t: Tool, given: CallFrame): Promise<unknown> => callTool(t, {}, 'call-1', given);

describe('callTool', () => {
  it('passes on valid progress once a second, and none after the end', async () => {
    const given = frame();
    let progress!: ToolContext['progress'];
    await call(
      tool((_args, context) => {
        ({ progress } = context);
        progress({ progress: Number.NaN, message: '' });
        progress({ progress: 1, total: 3, message: 'x'.repeat(600) });
        progress({ progress: 2 });
        clock.jump(1_000);
        progress({ progress: 3, total: -1 });
      }),
      given,
    );
    clock.jump(5_000);
    progress({ progress: 4 });
    expect(given.asked).toEqual([
      `work call-1: {"message":"${'x'.repeat(500)}","progress":1,"total":3}`,
      'work call-1: {"progress":3}',
    ]);
  });

  it('passes the context, also when it is destructured', async () => {
    const given = frame();
    const seen = await call(
      tool((_args, { requestStop, requestPause, ...rest }) => {
        requestStop('enough');
        requestPause('wait');
        return rest;
      }),
      given,
    );
    expect(given.asked).toEqual(['stop: enough', 'pause: wait']);
    expect(seen).toEqual({ callId: 'call-1', input: null });
  });

  it('has ids, and a key that is stable for execution and call', async () => {
    const seen = await call(
      tool((_args, c) => [c.executionId, c.callId, c.idempotencyKey, c.deps, c.metadata, c.state]),
      frame(),
    );
    expect(seen).toEqual([
      'exec-1',
      'call-1',
      'exec-1:call-1',
      { db: 'live' },
      { tenant: 'acme' },
      expect.objectContaining({ agentId: 'agent-1', stepCount: 2 }),
    ]);
  });

  it.each<[string, () => unknown]>([
    ['a value', () => 7],
    ['a promise', async () => 7],
    // oxlint-disable-next-line unicorn/no-thenable -- query builders are thenables
    ['a thenable', () => ({ then: (resolve: (n: number) => void) => resolve(7) })],
  ])('returns %s, and leaves no timer', async (_case, execute) => {
    expect(await call(tool(execute), frame())).toBe(7);
    expect(clock.pendingTimers).toBe(0);
  });

  it.each<[string, () => unknown]>([
    [
      'a throw',
      () => {
        throw new Error('broken');
      },
    ],
    ['a rejection', () => Promise.reject(new Error('broken'))],
    [
      'a thenable that throws',
      () => ({
        // oxlint-disable-next-line unicorn/no-thenable -- a broken thenable
        then() {
          throw new Error('broken');
        },
      }),
    ],
  ])('rejects with %s, and leaves no timer', async (_case, execute) => {
    await expect(call(tool(execute), frame())).rejects.toThrow('broken');
    expect(clock.pendingTimers).toBe(0);
  });

  it('D53: ends a call that exceeds its time, and aborts its signal', async () => {
    let signal: AbortSignal | undefined;
    const work = call(
      tool((_args, c) => {
        signal = c.signal;
        return new Promise(() => {});
      }),
      frame(),
    );
    const failed = expect(work).rejects.toThrow(ToolTimeout);
    await clock.advance(999);
    expect(signal?.aborted).toBe(false);
    await clock.advance(1);
    await failed;
    await expect(work).rejects.toThrow('Tool "work" took longer than its 1000 ms.');
    expect(signal?.aborted).toBe(true);
    expect(clock.pendingTimers).toBe(0);
  });

  it('ends immediately when the run is canceled, even if the tool continues', async () => {
    const cancellation = new Cancellation();
    let context: ToolContext | undefined;
    const work = call(
      tool((_args, c) => {
        context = c;
        return new Promise(() => {});
      }),
      frame({ cancellation }),
    );
    await clock.advance(0);
    expect(clock.pendingTimers).toBe(1);
    cancellation.cancel({ by: 'user', reason: 'enough' });
    await expect(work).rejects.toThrow(Cancelled);
    expect(clock.pendingTimers).toBe(0);
    // a tool that reads its signal only now still sees the abort
    expect(context?.signal.aborted).toBe(true);
  });

  it('does not start a tool on a canceled run', async () => {
    const cancellation = new Cancellation();
    cancellation.cancel({ by: 'user', reason: 'enough' });
    let ran = 0;
    const work = call(
      tool(() => ++ran),
      frame({ cancellation }),
    );
    await expect(work).rejects.toThrow(Cancelled);
    expect(ran).toBe(0);
  });

  it('ignores a result after the end', async () => {
    let answer: (value: string) => void = () => {};
    const work = call(
      tool(() => new Promise((resolve) => (answer = resolve))),
      frame(),
    );
    const failed = expect(work).rejects.toThrow(ToolTimeout);
    await clock.advance(1000);
    answer('late');
    await failed;
  });
});
