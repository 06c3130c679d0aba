import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  AgentBuilder,
  AgentError,
  SessionRuntime,
  type Agent,
  type AnyAgent,
  type Message,
  type Session,
  type SessionEvent,
  type SessionRuntimeOptions,
  type Tool,
} from 'onward';
import type { InferenceDriver, InferenceRequest } from 'onward/drivers';
import type { SessionStore } from 'onward/stores';
import { memoryStore } from 'onward/stores/memory';
import { sqliteStore } from 'onward/stores/sqlite';
import { DeterministicDriver, ScenarioStep } from 'onward/testing';
import { expect, onTestFinished } from 'vitest';
import { removeFolder } from './folders.ts';

export { gate, type Gate } from './gate.ts';

/** The owner of the sessions in tests. */
export const ann: { readonly owner: string } = { owner: 'ann' };
export const waiting: { readonly owner: string; readonly wait: true } = { ...ann, wait: true };

type Limits = Pick<Parameters<typeof sqliteStore>[0], 'maxBytes' | 'codec'>;

/** A place that stores sessions. Each `open` acts like another process: it shares only the rows. */
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

/** A runtime that fails the test if its work fails unexpectedly. */
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
  ends.push(async () => {
    await runtime.close({ graceMs: 0 });
    expect(failures).toEqual([]);
  });
  onTestFinished(endAll);
  return runtime;
}
/** Closes a runtime each. */
const ends: (() => Promise<void>)[] = [];
/** Closes all runtimes of a test at once, because one whose store never answers takes seconds. */
const endAll = async (): Promise<void> => {
  await Promise.all(ends.splice(0).map((end) => end()));
};

/** A runtime that accepts requests and leaves the work to others. */
export const clientOn = (
  store: SessionStore,
  agents: AnyAgent | readonly AnyAgent[],
  options: Partial<SessionRuntimeOptions> = {},
): SessionRuntime => runtimeOn(store, agents, { ...options, work: false });

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
 * A model that finds its turn and step in the conversation, so that a process that takes over gets the same answer as
 * the one before.
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

/** Polls until the value is truthy. The test timeout ends it. */
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

/** Collects all events of a runtime. */
export function receiving(runtime: SessionRuntime): readonly SessionEvent[] {
  const received: SessionEvent[] = [];
  onTestFinished(runtime.wiretap((event) => received.push(event)));
  return received;
}

export const typesOf = (received: readonly SessionEvent[]): string[] =>
  received.map(({ event }) => event.type);

export const callIds = ({ pendingApprovals }: Pick<Session, 'pendingApprovals'>): string[] =>
  pendingApprovals.map(({ callId }) => callId);

/** Checks that the conversation is valid for a provider and that the log has no gap. */
export async function isSound(runtime: SessionRuntime, sessionId: string): Promise<void> {
  const state = await runtime.state(sessionId, ann);
  if (!state.unfinishedStep) expect(state.messages.pairingProblem()).toBeNull();
  const ids = [...state.messages].map(({ id }) => id);
  expect(new Set(ids).size).toBe(ids.length);
  const { events, seq } = await runtime.events(sessionId, ann);
  if (events.length === 0) return; // pruned
  expect(events.map((entry) => entry.seq)).toEqual(events.map((_e, i) => i + 1));
  expect(seq).toBe(events.length);
}

/** Checks that a runtime with a new agent accepts the next message. */
export async function takesAnotherTurn(place: Place, sessionId: string): Promise<void> {
  const runtime = runtimeOn(place.open(), agentWith([ScenarioStep.final('next')]));
  await isSound(runtime, sessionId);
  const session = await runtime.send(sessionId, 'and now?', waiting);
  expect(session).toMatchObject({ status: 'completed', output: 'next' });
  await isSound(runtime, sessionId);
}
