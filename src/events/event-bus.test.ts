import { describe, expect, it } from 'vitest';
import {
  failingListeners,
  rejectionsReported,
  watchFailures,
} from '../../test/setup/failing-listeners.ts';
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

describe('listeners', () => {
  it('`on` gets events of its type, `wiretap` all events, each in the order of subscription', () => {
    const bus = createEventBus();
    const received: string[] = [];
    bus.wiretap(({ type }) => received.push(`tap ${type}`));
    bus.on('StreamDiscarded', ({ stepNumber }) => received.push(`first, step ${stepNumber}`));
    bus.on('StreamDiscarded', () => received.push('second'));
    bus.emit(discarded);
    bus.emit(updated);
    expect(received).toEqual([
      'first, step 1',
      'second',
      'tap StreamDiscarded',
      'tap AgentStateUpdated',
    ]);
  });

  it('reports whether an event type has a listener', () => {
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

  it('unsubscribing removes one listener only', () => {
    const bus = createEventBus();
    const received: string[] = [];
    const leaveA = bus.on('AgentStateUpdated', () => received.push('a'));
    bus.on('AgentStateUpdated', () => received.push('b'));
    const untap = bus.wiretap(() => received.push('tap'));
    leaveA();
    untap();
    bus.emit(updated);
    expect(received).toEqual(['b']);
  });

  it('unsubscribing twice does not remove later listeners', () => {
    const bus = createEventBus();
    const received: string[] = [];
    const leave = bus.on('AgentStateUpdated', () => received.push('gone'));
    leave();
    bus.on('AgentStateUpdated', () => received.push('here'));
    leave();
    bus.emit(updated);
    expect(received).toEqual(['here']);
  });

  it('a listener may unsubscribe during an event', () => {
    const bus = createEventBus();
    const received: string[] = [];
    const leave = bus.wiretap(() => {
      received.push('once');
      leave();
    });
    bus.wiretap(() => received.push('always'));
    bus.emit(updated);
    bus.emit(updated);
    expect(received).toEqual(['once', 'always', 'always']);
  });
});

describe('a listener that fails', () => {
  it.each(failingListeners)(
    'and %s is reported, and the others get the event',
    async (_how, fail) => {
      const { reports, unhandled } = watchFailures();
      const bus = createEventBus();
      const received: EventOf<'AgentStateUpdated'>[] = [];
      bus.on('AgentStateUpdated', () => void 0);
      bus.on('AgentStateUpdated', fail);
      bus.on('AgentStateUpdated', (event) => received.push(event));
      bus.emit(updated);
      await rejectionsReported();
      expect(received).toEqual([updated]);
      expect(reports).toHaveBeenCalledTimes(1);
      const [line] = reports.mock.calls[0]!;
      expect(line).toMatch(/^onward: a listener for AgentStateUpdated threw; the run continues/);
      expect(line).toContain('listener broke');
      expect(unhandled).not.toHaveBeenCalled();
    },
  );

  it('D43: is reported without the secrets in its error', () => {
    const { reports } = watchFailures();
    const bus = createEventBus();
    bus.wiretap(() => {
      throw new Error('401 for Bearer canary-0123456789');
    });
    bus.wiretap(() => {
      throw { status: 401, token: 'canary-0123456789' };
    });
    bus.emit(updated);
    expect(reports).toHaveBeenCalledTimes(2);
    expect(JSON.stringify(reports.mock.calls)).not.toContain('canary');
    expect(reports.mock.calls[0]![0]).toContain('event-bus.test.ts');
  });
});
