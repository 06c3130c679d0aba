import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Envelope, Refill } from '../../broadcasting/envelope.ts';
import { fakeSource, Wire, type FakeSource } from '../../../test/react/fake-source.ts';
import { withUserMessage } from '../sent-messages.ts';
import type { EnvelopeSource } from './envelope-source.ts';
import { quietWatch } from './quiet-watch.ts';
import {
  connectSession,
  type SessionViewStore,
  type SessionViewStoreOptions,
} from './session-view-store.ts';
import { sessionController } from './session-actions.ts';
import { SourceError } from './source-error.ts';

const settings: SessionViewStoreOptions = {
  history: [],
  tries: 1,
  reorderMs: 5,
  backoff: { minMs: 1, maxMs: 2 },
  quiet: { random: () => 1 },
  schedule: (flush) => {
    const timer = setImmediate(flush);
    return () => clearImmediate(timer);
  },
};
const seconds = async (count: number): Promise<void> =>
  void (await vi.advanceTimersByTimeAsync(count * 1_000));

beforeEach(() => void vi.useFakeTimers());
afterEach(() => {
  vi.unstubAllGlobals();
  vi.useRealTimers();
});

interface Stage extends Pick<FakeSource, 'sink'> {
  readonly store: SessionViewStore & { readonly close: () => void };
  /** The log of the server; `sink` delivers a part of it. */
  readonly log: Envelope[];
  readonly asked: () => number;
  /** Replaces the response. */
  instead: (() => Promise<Refill>) | null;
}

/** A page on a session with one run. */
async function stage(
  options: Partial<EnvelopeSource> = {},
  more: SessionViewStoreOptions = {},
): Promise<Stage> {
  const log: Envelope[] = [];
  const refill = vi.fn<NonNullable<EnvelopeSource['refill']>>(async (place) => {
    if (how.instead) return how.instead();
    const executionId = place?.executionId ?? log.at(-1)?.execution_id ?? null;
    const ofRun = log.filter(({ execution_id: id }) => id === executionId);
    return {
      session_id: 'ses_1',
      execution_id: executionId,
      envelopes: ofRun.filter(({ seq }) => (seq ?? 0) > (place?.after ?? 0)),
      seq: ofRun.at(-1)?.seq ?? 0,
      more: false,
    };
  });
  const { source, sink } = fakeSource({ refill, ...options });
  const how: Pick<Stage, 'instead'> = { instead: null };
  const page = Object.assign(how, {
    sink,
    store: connectSession(source, () => {}, { ...settings, ...more }),
    log,
    asked: () => refill.mock.calls.length,
  });
  await seconds(1);
  refill.mockClear();
  return page;
}

/** Delivers some envelopes of a short answer and loses the rest. */
async function answering(
  arriving: (all: readonly Envelope[]) => readonly Envelope[],
  options: Partial<EnvelopeSource> = {},
): Promise<Stage> {
  const page = await stage(options);
  page.log.push(...new Wire().answered());
  for (const envelope of arriving(page.log)) page.sink().envelope(envelope);
  await seconds(1);
  return page;
}

const isDone = ({ store }: Stage): boolean => {
  const { status, messages, gap } = store.view().state;
  return (
    status === 'completed' &&
    gap === null &&
    messages.map(({ content }) => content).join() === 'hi,hello'
  );
};

describe('silence while something is expected', () => {
  it.each<[string, (all: readonly Envelope[]) => readonly Envelope[]]>([
    ['the last envelope', (all) => all.slice(0, -1)],
    ['everything after the first', (all) => all.slice(0, 1)],
    ['the end and something in the middle', (all) => [all[0]!, all[1]!, all[2]!, all[4]!]],
    ['the answer, although the end arrived', (all) => [all[0]!, all[1]!, all[2]!, all[5]!]],
  ])('polls the log within ten seconds if %s was lost', async (_what, arriving) => {
    for (const replays of [false, true]) {
      const page = await answering(arriving, { replays });
      await seconds(10);
      expect(isDone(page)).toBe(true);
      const { asked } = page;
      const count = asked();
      await seconds(3_600);
      expect(asked()).toBe(count);
      page.store.close();
    }
  });

  it('the view ends like the log, whatever is lost at the end of a run', async () => {
    for (let lost = 1; lost < 64; lost++) {
      const page = await answering((all) => all.filter((_e, i) => (lost & (1 << i)) === 0));
      // a page that has no envelope of the run has sent the message
      if (page.store.view().state.executionId === null)
        page.store.update((state) => withUserMessage(state, 'hi', 'local'));
      await seconds(12);
      expect([lost, isDone(page)]).toEqual([lost, true]);
      page.store.close();
    }
  });

  it('polls seven times in ten minutes of a tool, with growing waits', async () => {
    const page = await stage();
    const wire = new Wire();
    page.log.push(wire.started(), wire.step(1), wire.tool('slow', 'call_1'));
    for (const envelope of page.log) page.sink().envelope(envelope);
    const at: number[] = [];
    for (let second = 1; second <= 600; second++) {
      const before = page.asked();
      await seconds(1);
      if (page.asked() > before) at.push(second);
    }
    expect(at).toEqual([10, 30, 70, 150, 270, 390, 510]);
    // an envelope arrives: the wait starts again
    page.log.push(wire.toolDone('slow', 'call_1', 'ok'));
    page.sink().envelope(page.log.at(-1)!);
    await seconds(9);
    expect(page.asked()).toBe(7);
    await seconds(2);
    expect(page.asked()).toBe(8);
  });

  it('keeps the view up to date from the log if the channel delivers nothing', async () => {
    const page = await stage();
    const wire = new Wire();
    page.log.push(wire.started());
    page.sink().envelope(page.log[0]!);
    for (let i = 1; i <= 5; i++) {
      page.log.push(wire.says(`part ${i}`, `m${i}`, i));
      await seconds(11);
      const said = page.store.view().state.messages.filter(({ role }) => role === 'assistant');
      expect(said.at(-1)?.content).toBe(`part ${i}`);
    }
  });

  it('does not poll while chunks arrive', async () => {
    const page = await stage();
    const wire = new Wire();
    page.sink().envelope(wire.started());
    for (let i = 0; i < 60; i++) {
      page.sink().envelope(wire.chunk('x', i));
      await seconds(1);
    }
    expect(page.asked()).toBe(0);
  });

  it.each(['paused', 'completed', 'stopped', 'cancelled', 'failed'] as const)(
    'does not poll a run that is %s',
    async (status) => {
      const page = await stage();
      const wire = new Wire();
      page.log.push(wire.started(), wire.ends(status));
      for (const envelope of page.log) page.sink().envelope(envelope);
      await seconds(3_600);
      expect(page.asked()).toBe(0);
    },
  );

  const failing = (): Promise<never> => Promise.reject(new SourceError('unreachable', 'down'));

  it('finds a run that started while the log could not be read', async () => {
    const page = await answering((all) => all);
    expect(isDone(page)).toBe(true);
    page.sink().connection('offline');
    const wire = new Wire('run_2');
    page.log.push(wire.started(), wire.says('again', 'm2'), wire.ends('completed'));
    page.instead = failing;
    page.sink().connection('live');
    await seconds(1);
    page.instead = null;
    await seconds(21);
    expect(page.store.view().state.messages.at(-1)?.content).toBe('again');
  });

  it('reads the conversation later if it could not be read at the end of a run', async () => {
    const history = vi.fn<NonNullable<EnvelopeSource['history']>>(async () => []);
    history.mockImplementationOnce(failing);
    const page = await answering((all) => all, { history });
    expect(history).toHaveBeenCalledTimes(1);
    await seconds(11);
    expect(history).toHaveBeenCalledTimes(2);
    await seconds(3_600);
    expect(history).toHaveBeenCalledTimes(2);
    page.store.close();
  });

  it('polls a failing log once each time, even if other reads are retried', async () => {
    const page = await stage({}, { tries: 5 });
    const wire = new Wire();
    page.log.push(wire.started());
    page.sink().envelope(page.log[0]!);
    page.instead = failing;
    await seconds(11);
    expect(page.asked()).toBe(1);
    await seconds(20);
    expect(page.asked()).toBe(2);
  });

  it('requests lost chunks of a text immediately', async () => {
    const page = await stage();
    const wire = new Wire();
    page.log.push(wire.started());
    page.sink().envelope(page.log[0]!);
    const pieces = ['Hel', 'lo ', 'you'].map((content, i) => {
      const piece = wire.chunk(content, i);
      return { ...piece, payload: { ...piece.payload, offset: i * 3 } };
    });
    const [first, second, third] = pieces;
    page.instead = async () => ({
      session_id: 'ses_1',
      execution_id: 'exe_1',
      envelopes: [],
      seq: 1,
      more: false,
      unfinished: [{ ...second!, payload: { ...second!.payload, offset: 0, content: 'Hello ' } }],
    });
    page.sink().envelope(first!);
    page.sink().envelope(third!);
    await seconds(1);
    expect(page.asked()).toBe(1);
    expect(JSON.stringify(page.store.view().state.messages)).toContain('Hello you');
  });

  it('does not poll twice if the page becomes visible during a poll', async () => {
    const page = Object.assign(new EventTarget(), { visibilityState: 'visible' });
    vi.stubGlobal('document', page);
    const asked: (() => void)[] = [];
    const ending = new AbortController();
    const ask = (): Promise<'nothing'> =>
      new Promise((resolve) => asked.push(() => resolve('nothing')));
    quietWatch({ isExpecting: () => true, ask }, { random: () => 1 }, ending.signal).check();
    await seconds(10);
    page.dispatchEvent(new Event('visibilitychange'));
    expect(asked).toHaveLength(1);
    asked[0]?.();
    await seconds(20);
    expect(asked).toHaveLength(2);
    ending.abort();
  });

  it('polls a hidden page when it becomes visible, and a closed one never', async () => {
    const page = Object.assign(new EventTarget(), { visibilityState: 'hidden' });
    vi.stubGlobal('document', page);
    const hidden = await answering((all) => all.slice(0, -1));
    await seconds(3_600);
    expect(hidden.asked()).toBe(0);
    page.visibilityState = 'visible';
    page.dispatchEvent(new Event('visibilitychange'));
    await seconds(1);
    expect(isDone(hidden)).toBe(true);
    const closed = await answering((all) => all.slice(0, -1));
    closed.store.close();
    await seconds(3_600);
    page.dispatchEvent(new Event('visibilitychange'));
    await seconds(60);
    expect(closed.asked()).toBe(0);
  });

  it('polls after an accepted message without envelopes', async () => {
    const page = await stage();
    const wire = new Wire();
    const controller = sessionController(page.store, () => ({
      send: async () => {
        page.log.push(wire.started(), wire.user('hi'), wire.says('hello'), wire.ends('completed'));
      },
    }));
    await seconds(3_600);
    void controller.send('hi');
    await seconds(9);
    expect(page.asked()).toBe(0);
    await seconds(2);
    expect(isDone(page)).toBe(true);
  });

  it('does not poll for a message that could not be sent', async () => {
    const page = await stage();
    const controller = sessionController(page.store, () => ({
      send: () => Promise.reject(new Error('no')),
    }));
    void controller.send('hi');
    await seconds(3_600);
    expect(page.asked()).toBe(0);
  });

  it('polls after an accepted approval without envelopes', async () => {
    const page = await stage();
    const wire = new Wire();
    page.log.push(
      wire.started(),
      wire.user('hi'),
      wire.asks('pay', 'call_1', {}),
      wire.waits('pay'),
    );
    for (const envelope of page.log) page.sink().envelope(envelope);
    await seconds(60);
    expect(page.asked()).toBe(0);
    const controller = sessionController(page.store, () => ({
      approve: async () => {
        page.log.push(wire.started(), wire.says('hello'), wire.ends('completed'));
      },
    }));
    void controller.approve('call_1');
    await seconds(11);
    expect(page.store.view().state.status).toBe('completed');
  });

  it('retries a failing log and clears the error with the first response', async () => {
    const page = await answering((all) => all.slice(0, -1));
    page.instead = () => Promise.reject(new SourceError('unreachable', 'away'));
    await seconds(60);
    expect(page.asked()).toBeGreaterThan(1);
    expect(page.asked()).toBeLessThan(5);
    expect(page.store.view().error).toMatchObject({ message: 'away' });
    page.instead = null;
    await seconds(80);
    expect(isDone(page)).toBe(true);
    expect(page.store.view().error).toBeNull();
  });

  it('fills a gap when the log is available again', async () => {
    const page = await stage();
    page.instead = () => Promise.reject(new SourceError('unreachable', 'away'));
    const wire = new Wire();
    page.log.push(wire.started(), wire.user('hi'), wire.says('hello'), wire.ends('completed'));
    page.sink().envelope(page.log[0]!);
    page.sink().envelope(page.log[3]!);
    await seconds(5);
    expect(page.store.view().state).toMatchObject({ status: 'completed', gap: { after: 1 } });
    page.instead = null;
    await seconds(10);
    expect(isDone(page)).toBe(true);
  });

  it('does not poll after a refusal until an envelope arrives', async () => {
    const page = await answering((all) => all.slice(0, 2));
    page.instead = () => Promise.reject(new SourceError('refused', 'no'));
    await seconds(3_600);
    expect(page.asked()).toBe(1);
    expect(page.store.view().error).toMatchObject({ message: 'no' });
  });
});
