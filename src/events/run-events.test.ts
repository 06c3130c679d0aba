import { describe, expect, it } from 'vitest';
import { defaultRedactor } from '../errors/redactor.ts';
import type { AgentEvent } from './agent-event.ts';
import { createEventBus } from './event-bus.ts';
import { RunEvents, type RunEventsOptions } from './run-events.ts';

const started = {
  agentName: 'a',
  resumed: false,
  previousStatus: 'pending' as const,
  previousStopReason: null,
  messageCount: 1,
  stepCount: 0,
};
const chunk = { messageId: 'm', stepNumber: 1, attempt: 1, content: 'hi', offset: 0 };

function eventsOf(options: Partial<RunEventsOptions> = {}): RunEvents {
  return new RunEvents({
    bus: createEventBus(),
    wiretap: undefined,
    parent: null,
    now: () => Date.parse('2026-01-16T12:00:00.000Z'),
    redactor: defaultRedactor,
    outlet: null,
    ...options,
  });
}

describe('the events of one run', () => {
  it('have agent, position and time; chunks have their own count', () => {
    const received: AgentEvent[] = [];
    const events = eventsOf({ wiretap: (event) => received.push(event) });
    events.identify('agent-1', null, 'exec-1');
    events.emit('AgentStarted', started);
    events.emit('StreamChunk', chunk, 0);
    events.emit('StreamChunk', chunk, 1);
    events.emit('AgentStateUpdated', { status: 'completed', stepCount: 1 });
    expect(received.map(({ index }) => index)).toEqual([0, 0, 1, 1]);
    expect(received[0]).toEqual({
      type: 'AgentStarted',
      agentId: 'agent-1',
      parentAgentId: null,
      executionId: 'exec-1',
      index: 0,
      at: '2026-01-16T12:00:00.000Z',
      ...started,
    });
  });

  it('has no listeners until one is added to the agent, the run or a parent', () => {
    const bus = createEventBus();
    const silent = eventsOf({ bus });
    expect([silent.isSilent, silent.wants('AgentStarted')]).toEqual([true, false]);
    const leave = bus.on('AgentStarted', () => {});
    expect([silent.isSilent, silent.wants('AgentStarted')]).toEqual([false, true]);
    expect(silent.wants('StreamChunk')).toBe(false);
    leave();
    const parent = eventsOf({ wiretap: () => {} });
    const child = eventsOf({ parent });
    expect([child.isSilent, child.wants('StreamChunk')]).toEqual([false, true]);
    expect(eventsOf({ parent: silent }).isSilent).toBe(true);
  });

  it("of a nested agent reach its own listeners, then the parent's, and share one count", () => {
    const received: string[] = [];
    const bus = createEventBus();
    const childBus = createEventBus();
    const note =
      (who: string) =>
      ({ type, agentId, index }: AgentEvent) =>
        received.push(`${who}: ${agentId} ${type} ${index}`);
    bus.wiretap(note('parent agent'));
    childBus.wiretap(note('child agent'));
    const parent = eventsOf({ bus, wiretap: note('run') });
    parent.identify('root', null, 'exec-1');
    const child = eventsOf({ bus: childBus, parent });
    child.identify('sub', 'root', 'exec-1');
    parent.emit('AgentStarted', started);
    child.emit('AgentStarted', started);
    parent.emit('AgentStateUpdated', { status: 'completed', stepCount: 1 });
    expect(received).toEqual([
      'parent agent: root AgentStarted 0',
      'run: root AgentStarted 0',
      'child agent: sub AgentStarted 1',
      'parent agent: sub AgentStarted 1',
      'run: sub AgentStarted 1',
      'parent agent: root AgentStateUpdated 2',
      'run: root AgentStateUpdated 2',
    ]);
  });
});
