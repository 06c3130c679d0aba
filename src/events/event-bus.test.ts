import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { AgentEvent, AgentEventType, EventOf } from './agent-event.ts';
import { createEventBus } from './event-bus.ts';

const base = { agentId: 'a', parentAgentId: null, executionId: 'e', index: 0, at: 'now' };
const updated: AgentEvent = {
  ...base,
  type: 'AgentStateUpdated',
  status: 'in_progress',
  stepCount: 1,
};
const discarded: AgentEvent = { ...base, type: 'StreamDiscarded', stepNumber: 1, attempt: 1 };

const microtasks = async (): Promise<void> => {
  for (let i = 0; i < 5; i++) await Promise.resolve();
};

describe('who hears what', () => {
  it('`on` hears its type, `wiretap` everything, each in the order of subscription', () => {
    const bus = createEventBus();
    const heard: string[] = [];
    bus.wiretap(({ type }) => heard.push(`tap ${type}`));
    bus.on('StreamDiscarded', ({ stepNumber }) => heard.push(`first, step ${stepNumber}`));
    bus.on('StreamDiscarded', () => heard.push('second'));
    bus.emit(discarded);
    bus.emit(updated);
    expect(heard).toEqual([
      'first, step 1',
      'second',
      'tap StreamDiscarded',
      'tap AgentStateUpdated',
    ]);
  });

  it('knows whether anybody would listen', () => {
    const bus = createEventBus();
    const wants = (...types: AgentEventType[]): boolean[] => types.map((type) => bus.wants(type));
    expect(bus.isSilent).toBe(true);
    const leave = bus.on('AgentStarted', () => {});
    expect(bus.isSilent).toBe(false);
    expect(wants('AgentStarted', 'StreamChunk')).toEqual([true, false]);
    const untap = bus.wiretap(() => {});
    expect(wants('AgentStarted', 'StreamChunk')).toEqual([true, true]);
    leave();
    untap();
    expect(bus.isSilent).toBe(true);
    expect(wants('AgentStarted', 'StreamChunk')).toEqual([false, false]);
  });

  it('leaving silences one listener and no other', () => {
    const bus = createEventBus();
    const heard: string[] = [];
    const leaveA = bus.on('AgentStateUpdated', () => heard.push('a'));
    bus.on('AgentStateUpdated', () => heard.push('b'));
    const untap = bus.wiretap(() => heard.push('tap'));
    leaveA();
    untap();
    bus.emit(updated);
    expect(heard).toEqual(['b']);
  });

  it('leaving twice does not take away those who came in between', () => {
    const bus = createEventBus();
    const heard: string[] = [];
    const leave = bus.on('AgentStateUpdated', () => heard.push('gone'));
    leave();
    bus.on('AgentStateUpdated', () => heard.push('here'));
    leave();
    bus.emit(updated);
    expect(heard).toEqual(['here']);
  });

  it('a listener may leave while it is told', () => {
    const bus = createEventBus();
    const heard: string[] = [];
    const leave = bus.wiretap(() => {
      heard.push('once');
      leave();
    });
    bus.wiretap(() => heard.push('always'));
    bus.emit(updated);
    bus.emit(updated);
    expect(heard).toEqual(['once', 'always', 'always']);
  });
});

describe('a listener that fails', () => {
  const errors = vi.spyOn(console, 'error');
  const unhandled = vi.fn();

  beforeEach(() => {
    errors.mockReset().mockImplementation(() => {});
    unhandled.mockReset();
    process.on('unhandledRejection', unhandled);
  });
  afterEach(() => {
    process.off('unhandledRejection', unhandled);
  });

  const failures: [string, () => unknown][] = [
    [
      'throws',
      () => {
        throw new Error('listener broke');
      },
    ],
    [
      'rejects',
      async () => {
        throw new Error('listener broke');
      },
    ],
    [
      'returns a foreign promise that rejects',
      () => ({
        // oxlint-disable-next-line unicorn/no-thenable -- promise libraries make such objects
        then: (_resolve: unknown, reject: (error: Error) => void) =>
          reject(new Error('listener broke')),
      }),
    ],
  ];

  it.each(failures)('and %s is reported, and the others are told', async (_how, fail) => {
    const bus = createEventBus();
    const heard: EventOf<'AgentStateUpdated'>[] = [];
    bus.on('AgentStateUpdated', () => void 0);
    bus.on('AgentStateUpdated', fail);
    bus.on('AgentStateUpdated', (event) => heard.push(event));
    bus.emit(updated);
    await microtasks();
    await new Promise((resolve) => setTimeout(resolve, 0));
    expect(heard).toEqual([updated]);
    expect(errors).toHaveBeenCalledTimes(1);
    const [line] = errors.mock.calls[0]!;
    expect(line).toMatch(/^onward: a listener for AgentStateUpdated threw; the run continues/);
    expect(line).toContain('listener broke');
    expect(unhandled).not.toHaveBeenCalled();
  });

  it('D43: is reported without the secrets in its error', () => {
    const bus = createEventBus();
    bus.wiretap(() => {
      throw new Error('401 for Bearer canary-0123456789');
    });
    bus.wiretap(() => {
      throw { status: 401, token: 'canary-0123456789' };
    });
    bus.emit(updated);
    expect(errors).toHaveBeenCalledTimes(2);
    expect(JSON.stringify(errors.mock.calls)).not.toContain('canary');
    expect(errors.mock.calls[0]![0]).toContain('event-bus.test.ts');
  });
});
