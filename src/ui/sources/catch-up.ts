import type { Refill } from '../../broadcasting/envelope.ts';
import { isEnd } from '../log-snapshot.ts';
import { reduceRefill, skipGap } from '../reduce-envelope.ts';
import type { UiMessage } from '../ui-message.ts';
import type { LogPlace, UiState } from '../ui-state.ts';
import { backoff, sleep, type BackoffOptions } from './backoff.ts';
import type { EnvelopeSource } from './envelope-source.ts';
import type { AskResult } from './quiet-watch.ts';
import { SourceError, toError } from './source-error.ts';
import { textAsks } from './text-asks.ts';

export interface CatchUpTiming {
  /** Milliseconds in which envelopes that arrive out of order may close a gap. Default: 150. */
  readonly reorderMs?: number;
  /** Milliseconds before a gap that cannot be filled is skipped. Default: 2,000. */
  readonly patienceMs?: number;
  /** Maximum attempts of one read. Default: 5. */
  readonly tries?: number;
  readonly backoff?: BackoffOptions;
  /** Milliseconds between two refills for an unfinished text. Default: 1,000. */
  readonly textMs?: number;
  /**
   * Wait without any envelope, while one is expected, before the log is polled: 10 seconds, doubled each time that
   * there is nothing new, at most 2 minutes.
   */
  readonly quiet?: BackoffOptions;
}

/** Owner of the state that is repaired. */
export interface CatchUpHost {
  readonly source: () => EnvelopeSource;
  readonly state: () => UiState;
  readonly update: (change: (state: UiState) => UiState) => void;
  /** Applies the server's conversation; `anew` if the current view cannot be trusted. */
  readonly canonical: (messages: readonly UiMessage[], anew: boolean) => void;
  readonly failed: (error: Error) => void;
  /** Called when a read succeeded: the error of an earlier one no longer applies. */
  readonly answered: () => void;
  /** Called when nothing is left to read. */
  readonly idle: () => void;
}

export interface CatchUp {
  /** Whether a failed read may succeed later. */
  readonly hasRetry: boolean;
  /** Checks the state for gaps. */
  check(): void;
  /** Reads what was missed. */
  missed(): void;
  /** Reads the conversation; `anew` discards the current view. */
  reread(anew: boolean): void;
  /** Reads the log once, and everything that could not be read before. */
  ask(): Promise<AskResult>;
}

/** Fetches what the stream did not bring: one read at a time, tried again with growing waits, and never for ever. */
export function catchUp(host: CatchUpHost, timing: CatchUpTiming, signal: AbortSignal): CatchUp {
  const { reorderMs = 150, patienceMs = 2_000 } = timing;
  let tries = timing.tries ?? 5;
  let needsTail = false;
  let needsHistory: 'merge' | 'anew' | null = null;
  /** Reads that failed for now, and how the last one failed. */
  let retryTail = false;
  let retryHistory: 'merge' | 'anew' | null = null;
  let leftOpen: LogPlace | null = null;
  let failure: 'passing' | 'final' | null = null;
  let working: Promise<void> | null = null;
  const texts = textAsks(() => (host.source().refill ? host.state().textGap : null), timing);

  const work = (): Promise<void> => {
    working ??= drain().finally(() => {
      working = null;
      host.idle();
    });
    return working;
  };

  async function drain(): Promise<void> {
    while (!signal.aborted) {
      const { gap } = host.state();
      if (needsHistory !== null) await readHistory();
      else if (needsTail) await readTail();
      else if (gap && !isSame(leftOpen, gap)) await fillGap(gap);
      else if (texts.isDue()) await fillText();
      else break;
    }
  }

  /** Resolves with null after the last attempt; the error has been reported. */
  async function read<T>(ask: () => Promise<T>): Promise<T | null> {
    for (let failures = 0; !signal.aborted;) {
      try {
        const answer = await ask();
        failure = null;
        if (!signal.aborted) host.answered();
        return answer;
      } catch (thrown) {
        if (signal.aborted) break;
        failures++;
        failure = SourceError.is(thrown) && thrown.isFinal ? 'final' : 'passing';
        if (failures >= tries || failure === 'final') {
          host.failed(toError(thrown));
          break;
        }
        await sleep(backoff(failures - 1, timing.backoff), signal, 'online');
      }
    }
    return null;
  }

  async function refillFrom(place: LogPlace | null): Promise<Refill | null> {
    const { refill } = host.source();
    if (!refill) return null;
    const answer = await read(() => refill(place, signal));
    if (answer && !signal.aborted) host.update((state) => reduceRefill(state, answer));
    return signal.aborted ? null : answer;
  }

  async function readPages(from: LogPlace | null): Promise<void> {
    let place = from;
    for (;;) {
      const page = await refillFrom(place);
      retryTail ||= page === null && failure === 'passing';
      if (!page?.more || page.execution_id === null) return;
      // end if a server says "more" and returns nothing
      if (place?.executionId === page.execution_id && page.seq <= place.after) return;
      place = { executionId: page.execution_id, after: page.seq };
    }
  }

  async function readTail(): Promise<void> {
    needsTail = retryTail = false;
    const { place, executionId } = host.state();
    if (place) await readPages(place);
    // a run that has ended may have been followed by others, of which the log shows the last
    if (!place || (isEnd(host.state().status) && !retryTail)) await readPages(null);
    const isOther = executionId !== null && host.state().executionId !== executionId;
    if (isOther && host.source().history) needsHistory ??= 'merge';
  }

  async function readHistory(): Promise<void> {
    const anew = needsHistory === 'anew';
    needsHistory = retryHistory = null;
    const { history } = host.source();
    const messages = history ? await read(() => history(signal)) : null;
    if (signal.aborted) return;
    if (messages) host.canonical(messages, anew);
    else if (history && failure === 'passing') retryHistory = anew ? 'anew' : 'merge';
    if (anew) await readPages(null);
  }

  async function fillGap(gap: LogPlace): Promise<void> {
    const isOpen = (): boolean => isSame(host.state().gap, gap);
    await sleep(host.source().refill ? reorderMs : patienceMs, signal);
    if (signal.aborted || !isOpen()) return;
    const answer = await refillFrom(gap);
    if (signal.aborted || !isOpen()) return;
    // rows after the gap show anyway, and the log can be read again later
    if (answer === null && failure === 'passing') leftOpen = gap;
    else host.update(skipGap);
  }

  async function fillText(): Promise<void> {
    const { textGap } = host.state();
    await sleep(reorderMs, signal);
    if (signal.aborted || textGap === null || host.state().textGap !== textGap) return;
    await readPages(host.state().place);
    texts.asked(textGap, host.state().textGap !== textGap);
  }

  return {
    get hasRetry() {
      return retryTail || retryHistory !== null;
    },
    check: () => {
      const { gap, textGap } = host.state();
      if (gap || textGap !== null) void work();
    },
    missed: () => {
      if (!host.source().refill) return;
      leftOpen = null;
      needsTail = true;
      void work();
    },
    reread: (anew) => {
      needsHistory = anew ? 'anew' : (needsHistory ?? 'merge');
      void work();
    },
    async ask() {
      if (!host.source().refill) return 'nothing';
      const before = host.state();
      leftOpen = null;
      needsTail = true;
      needsHistory ??= retryHistory;
      const most = tries;
      tries = 1;
      await work();
      tries = most;
      if (failure === 'final') return 'refused';
      return host.state() === before ? 'nothing' : 'news';
    },
  };
}

const isSame = (a: LogPlace | null, b: LogPlace): boolean =>
  a !== null && a.executionId === b.executionId && a.after === b.after;
