import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  AgentBuilder,
  AgentError,
  pairingProblem,
  SessionRuntime,
  type Agent,
  type AnyAgent,
  type InferenceDriver,
  type InferenceRequest,
  type Message,
  type Session,
  type SessionEvent,
  type SessionRuntimeOptions,
  type SessionStore,
  type Tool,
} from 'onward';
import { memoryStore } from 'onward/stores/memory';
import { sqliteStore } from 'onward/stores/sqlite';
import { DeterministicDriver, ScenarioStep } from 'onward/testing';
import { expect, onTestFinished } from 'vitest';
import { removeFolder } from './folders.ts';

/** Whose sessions the tests work with. */
export const ann: { readonly owner: string } = { owner: 'ann' };
export const waiting: { readonly owner: string; readonly wait: true } = { ...ann, wait: true };

type Limits = Pick<Parameters<typeof sqliteStore>[0], 'maxBytes' | 'codec'>;

/** Somewhere to keep sessions. Each `open` is what another process would open: the same rows, nothing else shared. */
export interface Place {
  open(): SessionStore;
}

export function memoryPlace(limits: Limits = {}): Place {
  const store = memoryStore(limits);
  return { open: () => ({ ...store }) };
}

export function sqlitePlace(limits: Limits = {}): Place & { readonly folder: string } {
  const folder = mkdtempSync(join(tmpdir(), 'onward-sessions-'));
  onTestFinished(() => removeFolder(folder));
  return {
    folder,
    open() {
      const store = sqliteStore({ path: join(folder, 'sessions.db'), ...limits });
      onTestFinished(() => store.close());
      return store;
    },
  };
}

/** For `describe.each`. */
export const places: readonly (readonly [string, (limits?: Limits) => Place])[] = [
  ['memory', memoryPlace],
  ['sqlite', sqlitePlace],
];

/** A runtime that fails the test when its work failed unexpectedly. */
export function runtimeOn(
  store: SessionStore,
  agents: AnyAgent | readonly AnyAgent[],
  options: Partial<SessionRuntimeOptions> = {},
): SessionRuntime {
  const failures: unknown[] = [];
  const runtime = new SessionRuntime({
    store,
    agents: Array.isArray(agents) ? (agents as readonly AnyAgent[]) : [agents as AnyAgent],
    onError: (error) => failures.push(error),
    ...options,
  });
  onTestFinished(async () => {
    await runtime.close({ graceMs: 0 });
    expect(failures).toEqual([]);
  });
  return runtime;
}

/** Takes requests, and leaves the work to others. */
export const clientOn = (
  store: SessionStore,
  agents: AnyAgent | readonly AnyAgent[],
): SessionRuntime => runtimeOn(store, agents, { queue: idleQueue });

const idleQueue: NonNullable<SessionRuntimeOptions['queue']> = {
  start: () => {},
  add: () => {},
  isFull: false,
  waiting: 0,
  drain: async () => {},
};

export const agentWith = (steps: readonly ScenarioStep[], ...tools: readonly Tool[]): Agent =>
  builderWith(DeterministicDriver.fromSteps(...steps), ...tools).build();

export const builderWith = (driver: InferenceDriver, ...tools: readonly Tool[]): AgentBuilder =>
  AgentBuilder.base()
    .withName('support')
    .withDriver(driver)
    .withTools(...tools);

export interface FollowingDriver extends InferenceDriver {
  readonly requests: readonly InferenceRequest[];
}

/**
 * A model that answers by what it sees: turn and step are counted in the conversation, so that a process which takes
 * over gets the answer that the one before would have got.
 */
export function followingDriver(...turns: readonly (readonly ScenarioStep[])[]): FollowingDriver {
  const requests: InferenceRequest[] = [];
  const answering = (request: InferenceRequest): DeterministicDriver => {
    requests.push(request);
    const messages = [...request.messages];
    const asked = (message: Message): boolean =>
      message.isUser() && message.metadata['synthetic'] !== true;
    const turn = messages.filter(asked).length - 1;
    const since = messages.slice(messages.findLastIndex(asked));
    const number = since.filter((message) => message.isAssistant()).length;
    const step = turns[turn]?.[number];
    if (!step) throw new AgentError('script_exhausted', `No answer for turn ${turn}, ${number}.`);
    const calls = step.calls.map((call, i) => ({ id: `t${turn}s${number}c${i}`, ...call }));
    return DeterministicDriver.fromSteps({ ...step, calls });
  };
  return {
    name: 'following',
    requests,
    infer: (request, options) => answering(request).infer(request, options),
    stream: (request, options) => answering(request).stream(request, options),
  };
}

export async function refusal(work: () => unknown): Promise<AgentError> {
  try {
    await work();
  } catch (error) {
    if (AgentError.is(error)) return error;
    throw error;
  }
  throw new Error('nothing was refused');
}

export const codeOf = async (work: () => unknown): Promise<string> => (await refusal(work)).code;

export interface Gate {
  readonly passed: Promise<void>;
  open(): void;
}

export function gate(): Gate {
  let open = (): void => {};
  const passed = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { passed, open };
}

/** Looks again and again until it holds; the test's time limit ends it. */
export async function until<T>(look: () => T | Promise<T>): Promise<NonNullable<T>> {
  for (;;) {
    const seen = await look();
    if (seen) return seen;
    await pause(2);
  }
}

export const pause = (ms: number): Promise<void> =>
  new Promise((resolve) => {
    setTimeout(resolve, ms);
  });

/** Everything that a runtime tells. */
export function hearing(runtime: SessionRuntime): readonly SessionEvent[] {
  const heard: SessionEvent[] = [];
  onTestFinished(runtime.wiretap((event) => heard.push(event)));
  return heard;
}

export const typesOf = (heard: readonly SessionEvent[]): string[] =>
  heard.map(({ event }) => event.type);

export const callIds = ({ pendingApprovals }: Pick<Session, 'pendingApprovals'>): string[] =>
  pendingApprovals.map(({ callId }) => callId);

/** The conversation could go to a provider, and the log has no gap. */
export async function isSound(runtime: SessionRuntime, sessionId: string): Promise<void> {
  const state = await runtime.state(sessionId, ann);
  if (!state.unfinishedStep) expect(pairingProblem(state.messages)).toBeNull();
  const ids = [...state.messages].map(({ id }) => id);
  expect(new Set(ids).size).toBe(ids.length);
  const { events, seq } = await runtime.events(sessionId, ann);
  if (events.length === 0) return; // pruned
  expect(events.map((entry) => entry.seq)).toEqual(events.map((_e, i) => i + 1));
  expect(seq).toBe(events.length);
}

/** A runtime with a new agent takes the next message. */
export async function takesAnotherTurn(place: Place, sessionId: string): Promise<void> {
  const runtime = runtimeOn(place.open(), agentWith([ScenarioStep.final('next')]));
  await isSound(runtime, sessionId);
  const session = await runtime.send(sessionId, 'and now?', waiting);
  expect(session).toMatchObject({ status: 'completed', output: 'next' });
  await isSound(runtime, sessionId);
}
