import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Envelope, Refill } from '../../broadcasting/envelope.ts';
import { fakeSource, Wire } from '../../../test/react/fake-source.ts';
import type { EnvelopeSource } from './envelope-source.ts';
import { connectSession, sessionViewStore, type SessionView } from './session-view-store.ts';
import { SourceError } from './source-error.ts';

const quick = { reorderMs: 5, patienceMs: 20, backoff: { minMs: 1, maxMs: 2 }, schedule: atOnce };

/** Renders in the next turn of the event loop. */
function atOnce(flush: () => void): () => void {
  const timer = setImmediate(flush);
  return () => clearImmediate(timer);
}

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** Advances the fake timers. */
const settle = async (): Promise<void> => void (await vi.advanceTimersByTimeAsync(30));

const refillOf = (envelopes: readonly Envelope[], more: Partial<Refill> = {}): Refill => ({
  session_id: 'ses_1',
  execution_id: 'exe_1',
  envelopes,
  seq: envelopes.at(-1)?.seq ?? 0,
  more: false,
  ...more,
});

const said = ({ state }: SessionView): string[] =>
  state.messages.filter(({ role }) => role !== 'status').map(({ content }) => content);

describe('sessionViewStore', () => {
  it('connects with the first listener and disconnects with the last', async () => {
    const { source, opened, closed } = fakeSource();
    const store = sessionViewStore(source, quick);
    expect(opened()).toBe(0);
    const leave = store.subscribe(() => {});
    const leaveToo = store.subscribe(() => {});
    expect(opened()).toBe(1);
    leave();
    await settle();
    expect(closed()).toBe(0);
    leaveToo();
    await settle();
    expect(closed()).toBe(1);
    store.subscribe(() => {});
    expect(opened()).toBe(2);
  });

  it('keeps the connection if a listener unsubscribes and subscribes again immediately', async () => {
    const { source, opened, closed } = fakeSource();
    const store = sessionViewStore(source, quick);
    store.subscribe(() => {})();
    store.subscribe(() => {});
    await settle();
    expect([opened(), closed()]).toEqual([1, 0]);
  });

  it('shows a thousand chunks of one frame as one change', async () => {
    const { source, sink } = fakeSource();
    const views: SessionView[] = [];
    connectSession(source, (view) => views.push(view), quick);
    const wire = new Wire();
    sink().envelope(wire.started());
    sink().envelope(wire.user('hi'));
    for (let i = 0; i < 900; i++) sink().envelope(wire.chunk('x', i));
    const before = views.length;
    await settle();
    expect(views.length - before).toBe(1);
    expect(said(views.at(-1)!)).toEqual(['hi', 'x'.repeat(900)]);
  });

  it('does not collect without limit if nothing is rendered', () => {
    const { source, sink } = fakeSource();
    const never = (): (() => void) => () => {};
    const { view } = connectSession(source, () => {}, { ...quick, schedule: never });
    const wire = new Wire();
    sink().envelope(wire.started());
    for (let i = 0; i < 1_200; i++) sink().envelope(wire.chunk('x', i));
    expect(view().state.status).toBe('processing');
  });

  it('includes envelopes that arrived before the position is read', () => {
    const { source, sink, place } = fakeSource();
    connectSession(source, () => {}, quick);
    const wire = new Wire();
    sink().envelope(wire.started());
    sink().envelope(wire.user('hi'));
    expect(place()).toEqual({ executionId: 'exe_1', after: 2 });
  });

  it('a gap is filled with one refill', async () => {
    const all = new Wire().answered();
    const refill = vi.fn<NonNullable<EnvelopeSource['refill']>>(async (place) =>
      place ? refillOf(all.slice(1, 4)) : refillOf([], { execution_id: null }),
    );
    const { source, sink } = fakeSource({ replays: true, refill });
    const { view } = connectSession(source, () => {}, quick);
    await settle();
    refill.mockClear();
    sink().envelope(all[0]!);
    sink().envelope(all[4]!);
    await settle();
    expect(refill).toHaveBeenCalledExactlyOnceWith(
      { executionId: 'exe_1', after: 1 },
      expect.anything(),
    );
    expect(said(view())).toEqual(['hi', 'hello']);
    expect(view().state.gap).toBeNull();
  });

  it('requests nothing for envelopes that arrive out of order', async () => {
    const wire = new Wire();
    const refill = vi.fn(async () => refillOf([]));
    const { source, sink } = fakeSource({ replays: true, refill });
    const { view } = connectSession(source, () => {}, { ...quick, reorderMs: 15 });
    const [a, b, c] = [wire.started(), wire.user('hi'), wire.says('hello')];
    sink().envelope(a);
    await settle();
    refill.mockClear();
    sink().envelope(c);
    setTimeout(() => sink().envelope(b), 5);
    await settle();
    expect(refill).not.toHaveBeenCalled();
    expect(said(view())).toEqual(['hi', 'hello']);
  });

  it('skips a gap after a while if the source has no refill', async () => {
    const wire = new Wire();
    const { source, sink } = fakeSource();
    const { view } = connectSession(source, () => {}, quick);
    sink().envelope(wire.started());
    wire.user('lost');
    sink().envelope(wire.says('hello'));
    await settle();
    await settle();
    expect(said(view())).toEqual(['hello']);
    expect(view().state.gap).toBeNull();
  });

  it.each<[string, EnvelopeSource['refill'], number, boolean]>([
    ['fails each time', async () => Promise.reject(new Error('down')), 5, true],
    ['is refused', async () => Promise.reject(new SourceError('refused', 'no')), 1, false],
    ['returns nothing', async () => refillOf([], { seq: 1 }), 1, false],
    [
      'promises more and returns nothing',
      async () => refillOf([], { seq: 1, more: true }),
      1,
      false,
    ],
  ])('continues the view after a refill that %s', async (_case, answer, calls, staysOpen) => {
    const wire = new Wire();
    const refill = vi.fn(answer);
    const { source, sink } = fakeSource({ replays: true, refill });
    const { view } = connectSession(source, () => {}, { ...quick, history: [] });
    sink().envelope(wire.started());
    await settle();
    refill.mockClear();
    wire.user('lost');
    sink().envelope(wire.says('hello'));
    await settle();
    await settle();
    expect(said(view())).toEqual(['hello']);
    expect(refill.mock.calls.filter(([place]) => place !== null)).toHaveLength(calls);
    // a temporary failure is retried later, see quiet-watch
    expect(view().state.gap !== null).toBe(staysOpen);
    // further envelopes do not trigger another read immediately
    sink().envelope(wire.stepDone(1));
    await settle();
    expect(refill.mock.calls.filter(([place]) => place !== null)).toHaveLength(calls);
  });

  it('pages of a refill are read to the end', async () => {
    const all = new Wire().answered();
    const refill = vi.fn<NonNullable<EnvelopeSource['refill']>>(async (place) => {
      const after = place?.after ?? 0;
      return refillOf(all.slice(after, after + 2), { more: after + 2 < all.length });
    });
    const { source } = fakeSource({ refill });
    const { view } = connectSession(source, () => {}, quick);
    await settle();
    expect(said(view())).toEqual(['hi', 'hello']);
    expect(view().state.status).toBe('completed');
    expect(refill.mock.calls.map(([place]) => place?.after ?? null)).toEqual([null, 2, 4]);
  });

  it('reads what was missed after a lost connection, also of the next run', async () => {
    const first = new Wire();
    const next = new Wire('exe_2');
    const rest = [first.started(), first.user('one'), first.says('1'), first.ends('completed')];
    let hasNext = false;
    const later = [next.started(), next.user('two', 'msg_two'), next.says('2', 'msg_2')];
    const refill = vi.fn<NonNullable<EnvelopeSource['refill']>>(async (place) =>
      place?.executionId === 'exe_1'
        ? refillOf(rest.slice(place.after))
        : refillOf(hasNext ? later : [], { execution_id: hasNext ? 'exe_2' : null }),
    );
    const { source, sink } = fakeSource({ refill });
    const { view } = connectSession(source, () => {}, { ...quick, history: [] });
    await settle();
    hasNext = true;
    sink().envelope(rest[0]!);
    sink().envelope(rest[1]!);
    sink().connection('offline');
    expect(view().connection).toBe('offline');
    sink().connection('live');
    await settle();
    expect(said(view())).toEqual(['one', '1', 'two', '2']);
    expect(view().state).toMatchObject({ executionId: 'exe_2', status: 'processing' });
  });

  it('refills from a source that replays only if nothing is known', async () => {
    const refill = vi.fn(async () => refillOf([], { execution_id: null }));
    const { source, sink } = fakeSource({ replays: true, refill });
    connectSession(source, () => {}, quick);
    await settle();
    expect(refill).toHaveBeenCalledTimes(1);
    sink().envelope(new Wire().started());
    sink().connection('connecting');
    sink().connection('live');
    await settle();
    expect(refill).toHaveBeenCalledTimes(1);
  });

  it('reads the conversation at the end of a run, and the server wins', async () => {
    const wire = new Wire();
    const message = {
      id: 'msg_answer',
      role: 'assistant',
      content: 'as kept',
      timestamp: '',
      metadata: {},
    } as const;
    const history = vi.fn(async () => [message]);
    const { source, sink } = fakeSource({ history });
    const { view } = connectSession(source, () => {}, { ...quick, history: [] });
    expect(history).not.toHaveBeenCalled();
    sink().envelope(wire.started());
    sink().envelope(wire.says('as streamed'));
    await settle();
    expect(history).not.toHaveBeenCalled();
    sink().envelope(wire.ends('completed'));
    await settle();
    expect(history).toHaveBeenCalledTimes(1);
    expect(said(view())).toEqual(['as kept']);
  });

  it('a conversation that is read while the next run starts does not remove its text', async () => {
    const wire = new Wire();
    let answer: (messages: never[]) => void = () => {};
    const history = vi.fn(() => new Promise<never[]>((resolve) => (answer = resolve)));
    const { source, sink } = fakeSource({ history });
    const { view } = connectSession(source, () => {}, { ...quick, history: [] });
    sink().envelope(wire.started());
    sink().envelope(wire.ends('completed'));
    await settle();
    const next = new Wire('exe_2');
    sink().envelope(next.started());
    sink().envelope(next.user('two'));
    await settle();
    answer([]);
    await settle();
    expect(said(view())).toEqual(['two']);
  });

  it('reads the history first if the page has none', async () => {
    const message = {
      id: 'm',
      role: 'user',
      content: 'before',
      timestamp: '',
      metadata: {},
    } as const;
    const { source } = fakeSource({ history: async () => [message] });
    const { view } = connectSession(source, () => {}, quick);
    await settle();
    expect(said(view())).toEqual(['before']);
  });

  it('applies a history that arrives after the first envelopes of a run', async () => {
    const old = { id: 'm', role: 'user', content: 'before', timestamp: '', metadata: {} } as const;
    const history = async (): Promise<readonly (typeof old)[]> => {
      await new Promise((resolve) => setTimeout(resolve, 10));
      return [old];
    };
    const { source, sink } = fakeSource({ replays: true, history });
    const { view } = connectSession(source, () => {}, quick);
    const wire = new Wire();
    sink().envelope(wire.started());
    sink().envelope(wire.user('now'));
    sink().envelope(wire.chunk('and th', 0));
    await settle();
    expect(said(view())).toEqual(['before', 'now', 'and th']);
  });

  it('reads runs of a lost connection from the conversation', async () => {
    const row = (id: string, content: string) =>
      ({ id, role: 'user', content, timestamp: '', metadata: {} }) as const;
    const [first, third] = [new Wire(), new Wire('exe_3')];
    const one = [first.started(), first.user('one', 'm1'), first.ends('completed')];
    const three = [third.started(), third.user('three', 'm3')];
    let isBack = false;
    const refill = vi.fn<NonNullable<EnvelopeSource['refill']>>(async (place) =>
      place?.executionId === 'exe_1'
        ? refillOf(one.slice(place.after))
        : refillOf(isBack ? three : [], { execution_id: isBack ? 'exe_3' : null }),
    );
    const all = [row('m1', 'one'), row('m2', 'two'), row('m3', 'three')];
    const history = vi.fn(async () => (isBack ? all : all.slice(0, 1)));
    const { source, sink } = fakeSource({ refill, history });
    const { view } = connectSession(source, () => {}, { ...quick, history: [] });
    for (const envelope of one) sink().envelope(envelope);
    await settle();
    expect(history).toHaveBeenCalledTimes(1);
    sink().connection('offline');
    isBack = true;
    sink().connection('live');
    await settle();
    expect(said(view())).toEqual(['one', 'two', 'three']);
    expect(view().state.status).toBe('processing');
  });

  it('reads a stale conversation again and keeps unsent messages', async () => {
    const wire = new Wire();
    const other = new Wire('exe_9');
    const message = {
      id: 'm',
      role: 'user',
      content: 'kept',
      timestamp: '',
      metadata: {},
    } as const;
    const { source, sink } = fakeSource({
      replays: true,
      history: async () => [message],
      refill: async () =>
        refillOf([other.started(), other.says('fresh')], { execution_id: 'exe_9' }),
    });
    const store = connectSession(source, () => {}, { ...quick, history: [] });
    await settle();
    sink().envelope(wire.started());
    sink().envelope(wire.says('gone', 'msg_gone'));
    const { withUserMessage } = await import('../sent-messages.ts');
    store.update((state) => withUserMessage(state, 'not sent', 'local'));
    sink().stale();
    await settle();
    expect(said(store.view())).toEqual(['kept', 'fresh', 'not sent']);
    expect(store.view().state.status).toBe('processing');
  });

  it('shows an error until the connection is live again', () => {
    const { source, sink } = fakeSource();
    const { view } = connectSession(source, () => {}, quick);
    sink().connection('offline');
    sink().failed(new Error('no way'));
    expect(view()).toMatchObject({ connection: 'offline', error: { message: 'no way' } });
    sink().connection('live');
    expect(view().error).toBeNull();
  });

  it('ignores everything after it is closed', async () => {
    const { source, sink } = fakeSource();
    const { view, close } = connectSession(source, () => {}, quick);
    const wire = new Wire();
    close();
    await settle();
    sink().envelope(wire.started());
    sink().connection('offline');
    await settle();
    expect(view().state.status).toBe('idle');
    expect(view().connection).toBe('connecting');
  });
});
