import type { Refill } from '../../broadcasting/envelope.ts';
import { reduceRefill, skipGap } from '../reduce-envelope.ts';
import type { UiMessage } from '../ui-message.ts';
import type { LogPlace, UiState } from '../ui-state.ts';
import { backoff, sleep, type BackoffOptions } from './backoff.ts';
import type { EnvelopeSource } from './envelope-source.ts';
import type { AskResult } from './quiet-watch.ts';
import { SourceError, toError } from './source-error.ts';
import { textAsks } from './text-asks.ts';

export interface CatchUpTiming {
  /** What only came in the wrong order closes a gap by itself within this time. Default: 150 ms. */
  readonly reorderMs?: number;
  /** How long the view waits for a gap that cannot be filled. Default: 2 seconds. */
  readonly patienceMs?: number;
  /** Tries of one read before it is given up. Default: 5. */
  readonly tries?: number;
  readonly backoff?: BackoffOptions;
  /** Between two refills for pieces of a text that is being made. Default: 1 second. */
  readonly textMs?: number;
  /**
   * How long nothing may come while something is expected before the log is asked: 10 seconds, then twice as long each
   * time that it has nothing new, at most 2 minutes.
   */
  readonly quiet?: BackoffOptions;
}

/** Who holds the state that is repaired. */
export interface CatchUpHost {
  readonly source: () => EnvelopeSource;
  readonly state: () => UiState;
  readonly update: (change: (state: UiState) => UiState) => void;
  /** The conversation as the server keeps it; `anew` where what is on screen cannot be trusted. */
  readonly canonical: (messages: readonly UiMessage[], anew: boolean) => void;
  readonly failed: (error: Error) => void;
  /** A read was answered: what was said of an earlier one does not hold any more. */
  readonly answered: () => void;
  /** All that can be read now was read. */
  readonly idle: () => void;
}

export interface CatchUp {
  /** A read was given up that may pass later. */
  readonly isOwing: boolean;
  /** Looks at the state for holes. */
  check(): void;
  /** Asks for what was missed. */
  missed(): void;
  /** Reads the conversation; `anew` throws away what is on screen. */
  reread(anew: boolean): void;
  /** Asks once what the log has, and for all that could not be read before. */
  ask(): Promise<AskResult>;
}

export const isTerminal = ({ status }: UiState): boolean =>
  status === 'completed' || status === 'stopped' || status === 'cancelled' || status === 'failed';

/** Fetches what the stream did not bring: one read at a time, tried again with growing waits, and never for ever. */
export function catchUp(host: CatchUpHost, timing: CatchUpTiming, signal: AbortSignal): CatchUp {
  const { reorderMs = 150, patienceMs = 2_000 } = timing;
  let tries = timing.tries ?? 5;
  let wantsTail = false;
  let wantsHistory: 'merge' | 'anew' | null = null;
  /** What was given up for now, and how the last read was. */
  let owesTail = false;
  let owesHistory: 'merge' | 'anew' | null = null;
  let leftOpen: LogPlace | null = null;
  let failure: 'passing' | 'final' | null = null;
  let working: Promise<void> | null = null;
  const texts = textAsks(() => (host.source().refill ? host.state().textGap : null), timing);

  const work = (): Promise<void> => {
    working ??= workOff().finally(() => {
      working = null;
      host.idle();
    });
    return working;
  };

  async function workOff(): Promise<void> {
    while (!signal.aborted) {
      const { gap } = host.state();
      if (wantsHistory !== null) await readHistory();
      else if (wantsTail) await readTail();
      else if (gap && !isSame(leftOpen, gap)) await fillGap(gap);
      else if (texts.isDue()) await fillText();
      else break;
    }
  }

  /** Null when it was given up; the reason has been told. */
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
      owesTail ||= page === null && failure === 'passing';
      if (!page?.more || page.execution_id === null) return;
      // a server that says "more" and gives nothing would be asked for ever
      if (place?.executionId === page.execution_id && page.seq <= place.after) return;
      place = { executionId: page.execution_id, after: page.seq };
    }
  }

  async function readTail(): Promise<void> {
    wantsTail = owesTail = false;
    const { place, executionId } = host.state();
    if (place) await readPages(place);
    // a run that has ended may have been followed by others, of which the log shows the last
    if (!place || (isTerminal(host.state()) && !owesTail)) await readPages(null);
    const isOther = executionId !== null && host.state().executionId !== executionId;
    if (isOther && host.source().history) wantsHistory ??= 'merge';
  }

  async function readHistory(): Promise<void> {
    const anew = wantsHistory === 'anew';
    wantsHistory = owesHistory = null;
    const { history } = host.source();
    const messages = history ? await read(() => history(signal)) : null;
    if (signal.aborted) return;
    if (messages) host.canonical(messages, anew);
    else if (history && failure === 'passing') owesHistory = anew ? 'anew' : 'merge';
    if (anew) await readPages(null);
  }

  async function fillGap(gap: LogPlace): Promise<void> {
    const isOpen = (): boolean => isSame(host.state().gap, gap);
    await sleep(host.source().refill ? reorderMs : patienceMs, signal);
    if (signal.aborted || !isOpen()) return;
    const answer = await refillFrom(gap);
    if (signal.aborted || !isOpen()) return;
    // what is there shows behind the gap too; the log can be asked again later
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
    get isOwing() {
      return owesTail || owesHistory !== null;
    },
    check: () => {
      const { gap, textGap } = host.state();
      if (gap || textGap !== null) void work();
    },
    missed: () => {
      if (!host.source().refill) return;
      leftOpen = null;
      wantsTail = true;
      void work();
    },
    reread: (anew) => {
      wantsHistory = anew ? 'anew' : (wantsHistory ?? 'merge');
      void work();
    },
    async ask() {
      if (!host.source().refill) return 'nothing';
      const before = host.state();
      leftOpen = null;
      wantsTail = true;
      wantsHistory ??= owesHistory;
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
