import type { Envelope } from '../../broadcasting/envelope.ts';
import { isEnd } from '../log-snapshot.ts';
import { newUiState, withIgnored } from '../reducer-state.ts';
import { reduceEnvelope } from '../reduce-envelope.ts';
import { textBeside } from '../files-text.ts';
import { withUserMessage } from '../sent-messages.ts';
import { reconcile } from '../with-history.ts';
import type { UiMessage } from '../ui-message.ts';
import type { UiState } from '../ui-state.ts';
import { catchUp, type CatchUp, type CatchUpTiming } from './catch-up.ts';
import { actionFor, type SessionAction } from './session-actions.ts';
import type { Connection, EnvelopeSource } from './envelope-source.ts';
import { SourceError } from './source-error.ts';
import { frameSchedule, type Schedule } from './frame-schedule.ts';
import { quietWatch, type QuietWatch } from './quiet-watch.ts';

/** The view of a session. Every change creates a new object. */
export interface SessionView {
  readonly state: UiState;
  readonly connection: Connection;
  /** The last error, never null while offline; cleared when the connection is live. */
  readonly error: Error | null;
  /** User actions that are pending or failed. */
  readonly actions: readonly SessionAction[];
}

export interface SessionViewStoreOptions extends CatchUpTiming {
  /** Initial messages of the page; without them the source is asked. */
  readonly history?: readonly UiMessage[];
  /** Schedule for showing received envelopes. Default: with the next frame. */
  readonly schedule?: Schedule;
}

export interface SessionViewStore {
  view(): SessionView;
  /** Adds a listener and connects. Returns a function that removes it; without listeners the store disconnects. */
  subscribe(listener: () => void): () => void;
  update(change: (state: UiState) => UiState): void;
  note(actions: readonly SessionAction[]): void;
  /** Reads the server's conversation. */
  refresh(): void;
  /** Replaces the source with an equal one: used for the next read, without a reconnect. */
  renew(source: EnvelopeSource): void;
}

/**
 * Maximum envelopes of one frame; beyond that they are shown immediately, so that a hidden tab does not collect
 * without limit.
 */
const maxWaiting = 1_000;

/** Creates a store with the view of one session, which stays up to date while it has listeners. */
export function sessionViewStore(
  first: EnvelopeSource | null,
  options: SessionViewStoreOptions = {},
): SessionViewStore {
  const { history, schedule = frameSchedule } = options;
  let source = first;
  let view: SessionView = {
    state: newUiState(history),
    connection: first ? 'connecting' : 'offline',
    error: first ? null : noSession(),
    actions: [],
  };
  const listeners = new Set<() => void>();
  let waiting: Envelope[] = [];
  let cancelFlush: (() => void) | null = null;
  let close: (() => void) | null = null;
  let repairs: CatchUp | null = null;
  let watch: QuietWatch | null = null;
  /** Error of reading the log or the conversation. */
  let readError: Error | null = null;
  /** Whether the server accepted an action and no envelope has followed yet. */
  let isAnswered = false;

  const show = (change: Partial<SessionView>): void => {
    const keys = Object.keys(change) as (keyof SessionView)[];
    if (keys.every((key) => view[key] === change[key])) return;
    view = { ...view, ...change };
    for (const listener of listeners) listener();
  };

  const setState = (state: UiState): void => {
    const before = view.state;
    show({ state });
    const isNews = before.status !== state.status || before.executionId !== state.executionId;
    if (isNews && isEnd(state.status) && source?.history) repairs?.reread(false);
    repairs?.check();
    watch?.check();
  };

  const flush = (): void => {
    cancelFlush?.();
    cancelFlush = null;
    if (waiting.length === 0) return;
    const batch = waiting;
    waiting = [];
    isAnswered = false;
    watch?.received();
    setState(batch.reduce(reduceEnvelope, view.state));
  };

  const update = (change: (state: UiState) => UiState): void => {
    flush();
    setState(change(view.state));
  };

  function open(from: EnvelopeSource): void {
    const end = new AbortController();
    const { signal } = end;
    repairs = catchUp(
      {
        source: () => source ?? from,
        state: () => view.state,
        update,
        canonical: (messages, anew) =>
          update((state) => reconcile(anew ? onlySent(state) : state, messages)),
        failed: (error) => {
          readError = error;
          show({ error });
        },
        answered: () => {
          if (view.connection === 'live' && view.error === readError) show({ error: null });
          readError = null;
        },
        idle: () => watch?.check(),
      },
      options,
      signal,
    );
    const { reread, missed, ask } = repairs;
    watch = quietWatch({ isExpecting, ask: asked(ask) }, options.quiet ?? {}, signal);
    const leave = from.open(
      {
        envelope: (envelope) => {
          if (signal.aborted) return;
          waiting.push(envelope);
          if (waiting.length >= maxWaiting) flush();
          else cancelFlush ??= schedule(flush);
        },
        connection: (connection) => {
          if (signal.aborted) return;
          const isBack = connection === 'live' && view.connection !== 'live';
          if (isBack) watch?.received();
          if (connection === 'live') show({ connection, error: null });
          else if (connection === 'offline') show({ connection, error: view.error ?? noReason() });
          else show({ connection });
          flush();
          if (isBack && !(from.replays && view.state.place)) missed();
        },
        stale: () => {
          if (signal.aborted) return;
          reread(true);
        },
        failed: (error) => {
          if (signal.aborted) return;
          if (SourceError.is(error, 'unreadable')) update((state) => withIgnored(state, 1));
          show({ error });
        },
      },
      () => {
        flush();
        return view.state.place;
      },
    );
    if (!history && from.history) reread(false);
    close = () => {
      end.abort();
      leave();
      flush();
      repairs = watch = null;
    };
  }

  /** Whether an envelope is expected that may have been lost. */
  const isExpecting = (): boolean => {
    const { state, actions } = view;
    if (!source?.refill) return false;
    if (state.status === 'processing' || state.gap || isAnswered || repairs?.hasRetry) return true;
    const last = state.messages.at(-1);
    return last?.metadata.pending === true && actionFor(actions, 'send', last.id) === null;
  };
  const asked =
    (ask: CatchUp['ask']): CatchUp['ask'] =>
    () => {
      isAnswered = false;
      return ask();
    };

  return {
    view: () => view,
    subscribe(listener) {
      listeners.add(listener);
      if (!close && source) open(source);
      return () => {
        listeners.delete(listener);
        // React's strict mode unsubscribes and subscribes again immediately: do not reconnect
        queueMicrotask(() => {
          if (listeners.size > 0 || !close) return;
          close();
          close = null;
          show({ connection: 'connecting' });
        });
      };
    },
    update,
    note(actions) {
      const done = new Set(view.actions.filter(isDone).map(({ id }) => id));
      isAnswered ||= actions.some((action) => isDone(action) && !done.has(action.id));
      show({ actions });
      watch?.check();
    },
    refresh: () => repairs?.reread(false),
    renew: (next) => {
      source = next;
    },
  };
}

const isDone = ({ status }: SessionAction): boolean => status === 'done';

const noReason = (): SourceError =>
  new SourceError('unreachable', 'The connection was lost, and its source did not say why.');
const noSession = (): SourceError =>
  new SourceError('not_found', 'No session is open: no source was given.');

/** Returns a state with only the pending user messages. */
const onlySent = ({ messages }: UiState): UiState =>
  messages
    .filter(({ metadata }) => metadata.pending)
    .reduce(
      (state, message) =>
        withUserMessage(state, textBeside(message), message.id, message.metadata.files),
      newUiState(),
    );

/** Connects a view without React: calls `onView` now and with every change, until the returned function is called. */
export function connectSession(
  source: EnvelopeSource,
  onView: (view: SessionView) => void,
  options: SessionViewStoreOptions = {},
): SessionViewStore & { readonly close: () => void } {
  const store = sessionViewStore(source, options);
  const close = store.subscribe(() => onView(store.view()));
  onView(store.view());
  return { ...store, close };
}
