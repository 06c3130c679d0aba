import { describe, expect, it } from 'vitest';
import type { AgentEvent } from '../../events/agent-event.ts';
import type { SessionRuntime } from '../../sessions/session-runtime.ts';
import type { SessionEvent } from '../../sessions/session-worker.ts';
import { SessionFeed } from './use-chat-feed.ts';
import { LiveTails } from './use-chat-tails.ts';

const event = (type: string, more: object = {}): AgentEvent =>
  ({ type, agentId: 'a', parentAgentId: null, executionId: 'e1', ...more }) as AgentEvent;

/** A runtime whose log and voice the test holds in its hands. */
function fakeRuntime() {
  const log: { seq: number; event: AgentEvent }[] = [];
  const listeners = new Set<(told: SessionEvent) => void>();
  const state = { status: 'in_progress', executionId: 'e1', reads: 0 };
  const runtime = {
    async subscribe(_id: string, _owner: unknown, listener: (told: SessionEvent) => void) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    async events(_id: string, { executionId = 'e1', after = 0 }) {
      state.reads += 1;
      const events = executionId === 'e1' ? log.filter(({ seq }) => seq > after) : [];
      return { executionId, events, seq: log.at(-1)?.seq ?? 0 };
    },
    get: async () => ({ status: state.status, executionId: state.executionId }),
  } as unknown as SessionRuntime;
  const tell = (seq: number | null, told: AgentEvent): void => {
    for (const listener of listeners) listener({ sessionId: 's', owner: 'ann', seq, event: told });
  };
  return {
    runtime,
    state,
    listeners,
    tell,
    write: (type: string, more?: object) => {
      const entry = { seq: log.length + 1, event: event(type, more) };
      log.push(entry);
      return { tell: () => tell(entry.seq, entry.event) };
    },
    says: (content: string) => tell(null, event('StreamChunk', { content })),
  };
}

type Fake = ReturnType<typeof fakeRuntime>;

function readerOf({ runtime }: Fake, tails: LiveTails = new LiveTails(runtime), pollMs = 60_000) {
  const read: string[] = [];
  const opening = SessionFeed.open(tails, { runtime, sessionId: 's', owner: 'ann', pollMs });
  const done = opening.then(async (feed) => {
    for await (const { event: one } of feed.read('e1'))
      read.push('content' in one ? one.content : one.type);
  });
  return { read, opening, done };
}

const settle = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 5));

describe('SessionFeed', () => {
  it('tells the log, then what comes, each once', async () => {
    const fake = fakeRuntime();
    const first = fake.write('AgentStarted');
    const { read, opening, done } = readerOf(fake);
    await opening;
    first.tell();
    fake.write('AgentStepStarted').tell();
    fake.says('a');
    fake.says('b');
    await settle();
    expect(read).toEqual(['AgentStarted', 'AgentStepStarted', 'a', 'b']);
    fake.write('MessageAdded').tell();
    fake.state.status = 'completed';
    fake.write('AgentFinished').tell();
    await done;
    expect(read.slice(4)).toEqual(['MessageAdded', 'AgentFinished']);
    expect(fake.listeners.size).toBe(0);
  });

  it('a text whose beginning nobody has heard is not begun in the middle', async () => {
    const fake = fakeRuntime();
    fake.write('AgentStepStarted');
    const { read, opening } = readerOf(fake);
    await opening;
    fake.says('middle');
    await settle();
    expect(read).toEqual(['AgentStepStarted']);
    (await opening).close();
  });

  it('who comes later gets the text from its beginning, where somebody of this process has heard it', async () => {
    const fake = fakeRuntime();
    const tails = new LiveTails(fake.runtime);
    const first = readerOf(fake, tails);
    await first.opening;
    fake.write('AgentStepStarted').tell();
    fake.says('a');
    (await first.opening).close();
    fake.says('b');
    const second = readerOf(fake, tails);
    await second.opening;
    fake.says('c');
    await settle();
    expect(second.read).toEqual(['AgentStepStarted', 'a', 'b', 'c']);
    (await second.opening).close();
  });

  it('chunks that were told before what the log has by now are stale', async () => {
    const fake = fakeRuntime();
    const tails = new LiveTails(fake.runtime);
    const first = readerOf(fake, tails);
    await first.opening;
    fake.write('AgentStepStarted').tell();
    fake.says('void');
    // written, and not told yet
    const discarded = fake.write('StreamDiscarded');
    const second = readerOf(fake, tails);
    await second.opening;
    await settle();
    expect(second.read).toEqual(['AgentStepStarted', 'StreamDiscarded']);
    discarded.tell();
    fake.says('new');
    await settle();
    expect(second.read).toEqual(['AgentStepStarted', 'StreamDiscarded', 'new']);
    for (const reader of [first, second]) (await reader.opening).close();
  });

  it('what another process has done in between is read from the log', async () => {
    const fake = fakeRuntime();
    const { read, opening } = readerOf(fake);
    await opening;
    fake.write('AgentStarted').tell();
    await settle();
    fake.write('AgentStepStarted');
    fake.write('MessageAdded');
    fake.write('AgentStepCompleted').tell();
    await settle();
    expect(read).toEqual([
      'AgentStarted',
      'AgentStepStarted',
      'MessageAdded',
      'AgentStepCompleted',
    ]);
    (await opening).close();
  });

  it('asks the store for chunks never, and while nothing is heard now and then', async () => {
    const fake = fakeRuntime();
    const { opening } = readerOf(fake);
    await opening;
    fake.write('AgentStepStarted').tell();
    await settle();
    const { reads } = fake.state;
    for (let i = 0; i < 100; i += 1) fake.says('x');
    await settle();
    expect(fake.state.reads).toBe(reads);
    (await opening).close();
    const quiet = readerOf(fake, undefined, 1);
    await settle();
    await settle();
    expect(fake.state.reads).toBeGreaterThan(reads + 2);
    (await quiet.opening).close();
  });

  it('a handover is no end, and a run that is answered goes on', async () => {
    const fake = fakeRuntime();
    const { read, opening, done } = readerOf(fake);
    await opening;
    fake.write('AgentPaused', { kind: 'handover', pendingApprovals: [] }).tell();
    fake.write('AgentStarted').tell();
    fake.write('AgentPaused', { kind: 'approval', pendingApprovals: [] }).tell();
    await settle();
    fake.write('AgentStarted').tell();
    fake.state.status = 'paused';
    fake.write('AgentPaused', { kind: 'approval', pendingApprovals: [] }).tell();
    await done;
    expect(read).toHaveLength(5);
  });

  it('a run that was dropped before it began is said to be lost', async () => {
    const fake = fakeRuntime();
    const { done } = readerOf(fake, undefined, 1);
    await settle();
    fake.state.status = 'failed';
    await expect(done).rejects.toThrow(/dropped before it began/);
  });

  it('the next execution ends a run whose last word was lost', async () => {
    const fake = fakeRuntime();
    fake.write('AgentStarted');
    const { read, done } = readerOf(fake, undefined, 1);
    await settle();
    fake.state.executionId = 'e2';
    await done;
    expect(read).toEqual(['AgentStarted']);
  });
});
