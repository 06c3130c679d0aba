import {
  AgentBuilder,
  AgentState,
  type Agent,
  type ResumeOptions,
  type RunOptions,
  type Tool,
} from 'onward';
import {
  AgentEventEnvelopeAdapter,
  BroadcastConfig,
  memoryBroadcaster,
  type BroadcastSettings,
  type Envelope,
  type EnvelopeOf,
  type EnvelopeType,
} from 'onward/broadcasting';
import { DeterministicDriver, fakeClock, ScenarioStep, type FakeClock } from 'onward/testing';
import { expect } from 'vitest';
import type { EventListener } from '../../src/events/agent-event.ts';

export const presets = ['minimal', 'standard', 'debug'] as const;
export type Preset = (typeof presets)[number];
export const SESSION = 'ses-1';
export const EXECUTION = 'exe-1';

/** Returns a builder with a scripted model and a fake clock. */
export const scripted = (
  steps: readonly ScenarioStep[],
  tools: readonly Tool[] = [],
  clock: FakeClock = fakeClock(),
): AgentBuilder =>
  AgentBuilder.base()
    .withName('support')
    .withClock(clock)
    .withDriver(DeterministicDriver.create(steps, { clock }))
    .withTools(...tools);

export const asked = (text = 'go'): AgentState => AgentState.empty().withUserMessage(text);

/** One run with an adapter for each preset. */
export class Live {
  readonly #settings: Partial<BroadcastSettings>;
  readonly #sent: Record<Preset, Envelope[]> = { minimal: [], standard: [], debug: [] };
  #after = 0;

  constructor(settings: Partial<BroadcastSettings> = {}) {
    this.#settings = settings;
  }

  async run(agent: Agent, state: AgentState, options: RunOptions = {}): Promise<AgentState> {
    return this.#received((wiretap) =>
      agent.run(state, { executionId: EXECUTION, ...options, wiretap }),
    );
  }

  async resume(agent: Agent, state: AgentState, options: ResumeOptions = {}): Promise<AgentState> {
    return this.#received((wiretap) => agent.resume(state, { ...options, wiretap }));
  }

  async #received(work: (wiretap: EventListener) => Promise<AgentState>): Promise<AgentState> {
    const adapters = presets.map((preset) => {
      const broadcaster = memoryBroadcaster();
      const adapter = new AgentEventEnvelopeAdapter({
        broadcaster,
        sessionId: SESSION,
        executionId: EXECUTION,
        after: this.#after,
        config: BroadcastConfig[preset](this.#settings),
      });
      return { preset, broadcaster, adapter, tap: adapter.wiretap() };
    });
    const state = await work((event) => {
      for (const { tap } of adapters) tap(event);
    });
    for (const { preset, broadcaster, adapter } of adapters) {
      await adapter.flush();
      const { queued, dropped, failed } = adapter.stats;
      if (queued + dropped + failed > 0) throw new Error(`lost: ${JSON.stringify(adapter.stats)}`);
      this.#sent[preset].push(...broadcaster.envelopes());
      this.#after = adapter.seq;
    }
    return state;
  }

  of(preset: Preset): readonly Envelope[] {
    return this.#sent[preset];
  }

  get all(): Readonly<Record<Preset, readonly Envelope[]>> {
    return this.#sent;
  }
}

export const ofType = <T extends EnvelopeType>(
  envelopes: readonly Envelope[],
  type: T,
): EnvelopeOf<T>[] => envelopes.filter((e): e is EnvelopeOf<T> & Envelope => e.type === type);

export const numbered = (envelopes: readonly Envelope[]): Envelope[] =>
  envelopes.filter(({ seq }) => seq !== null);

/** Copies a value as JSON, like a transport. */
export const plain = <T>(value: T): T => JSON.parse(JSON.stringify(value)) as T;

/** Replaces random ids with numbers in the order of their first use, so that equal runs give equal values. */
export function steady<T>(value: T): T {
  const names = new Map<string, string>();
  const counts: Record<string, number> = {};
  const text = JSON.stringify(value).replace(
    /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|(?:msg|cal|stp|cmp)_[0-9a-z]{16}/g,
    (id) => {
      const kind = /^(msg|cal|stp|cmp)_/.exec(id)?.[1] ?? 'agent';
      if (!names.has(id)) names.set(id, `${kind}-${(counts[kind] = (counts[kind] ?? 0) + 1)}`);
      return names.get(id) ?? '';
    },
  );
  return JSON.parse(text) as T;
}

/** Checks that each numbered envelope names the previous one. `after` is the last number of the reader. */
export function isUnbroken(envelopes: readonly Envelope[], after = 0): void {
  let last = after;
  for (const { seq, prev } of numbered(envelopes)) {
    expect({ seq, prev }).toEqual({ seq, prev: last });
    last = seq ?? last;
  }
}
