import { ErrorPolicy, type Agent, type InferenceDriver, type SessionRuntime } from 'onward';
import { inProcessBus, type MessageBus } from 'onward/bus';
import { mockTool } from 'onward/testing';
import type { NumberedEvent } from '../../src/sessions/event-log.ts';
import { FeedClient, type Reading, type Said } from './following.ts';
import { mortal } from './mortal-store.ts';
import {
  ann,
  builderWith,
  callIds,
  clientOn,
  memoryPlace,
  pause,
  runtimeOn,
  type Place,
} from './sessions.ts';

/** One model answer: chunks of reasoning and text, the chunks after which an attempt fails, and its tool calls. */
export interface Answer {
  readonly thoughts: number;
  readonly pieces: number;
  readonly cuts: readonly number[];
  readonly calls: 'look' | 'pay';
}
/** A client: how it reads, and the moments at which it connects and disconnects. */
export interface ClientPlan extends Reading {
  readonly isElsewhere: boolean;
  readonly moments: readonly number[];
}
export interface Scenario {
  /** Each turn ends with an answer without tool calls. */
  readonly turns: readonly (readonly Answer[])[];
  readonly prunes: readonly boolean[];
  readonly clients: readonly ClientPlan[];
  /** At each of these moments the model waits until all clients have its text so far. */
  readonly settlesEvery: number;
  /** Whether a bus connects the processes: then text is seen in all of them. */
  readonly hasBus: boolean;
  readonly pausesAt: number | null;
  readonly diesAt: number | null;
}

const never = (): Promise<never> => new Promise(() => {});
const lease = { leaseMs: 300, heartbeatMs: 50 };

/** Polls until the condition holds and throws after 10 seconds. */
async function soon(what: () => string, look: () => boolean | Promise<boolean>): Promise<void> {
  const end = Date.now() + 10_000;
  while (!(await look())) {
    if (Date.now() > end) throw new Error(`never: ${what()}`);
    await pause(1);
  }
}

/** A session that is processed in this process or, after a crash, in another one, with its clients. */
export class FeedScenario {
  readonly scenario: Scenario;
  readonly id: string = 's';
  readonly #place: Place = memoryPlace();
  readonly web: SessionRuntime;
  readonly #victim = mortal(this.#place.open());
  /** A client that is connected from the start. */
  readonly first: FeedClient = new FeedClient({ isSmall: false, pace: 0 });
  readonly clients: readonly { readonly plan: ClientPlan; readonly client: FeedClient }[];
  readonly log: NumberedEvent[] = [];
  worker: SessionRuntime;
  prunedTo = 0;
  hasTakenOver = false;
  #moment = 0;
  #streams = 0;
  readonly #cuts = new Map<string, number>();

  readonly #bus: { readonly bus?: MessageBus };

  constructor(scenario: Scenario) {
    this.scenario = scenario;
    this.#bus = scenario.hasBus ? { bus: inProcessBus() } : {};
    this.clients = scenario.clients.map((plan) => ({ plan, client: new FeedClient(plan) }));
    this.web = clientOn(this.#place.open(), this.#agent(), this.#bus);
    this.worker = runtimeOn(this.#victim.store, this.#agent(), {
      ...this.#bus,
      ...(scenario.diesAt !== null && { lease }),
    });
  }

  get all(): FeedClient[] {
    return [this.first, ...this.clients.map(({ client }) => client)];
  }

  #agent(): Agent {
    const look = mockTool('look', async () => {
      this.#pass();
      await pause(0);
      return 'seen';
    });
    return builderWith(this.#model(), look, mockTool('pay', 'paid', { needsApproval: true }))
      .withErrorPolicy(ErrorPolicy.retryAll(9).withBackoff({ initialMs: 1, maxMs: 1, jitter: 0 }))
      .build();
  }

  #model(): InferenceDriver {
    // oxlint-disable-next-line no-this-alias
    const world = this;
    return {
      name: 'streaming',
      infer: () => Promise.reject(new Error('not streamed')),
      async *stream({ messages }) {
        const all = [...messages];
        const turn = all.filter((message) => message.isUser()).length - 1;
        const since = all.slice(all.findLastIndex((message) => message.isUser()));
        const step = since.filter((message) => message.isAssistant()).length;
        const answers = world.scenario.turns[turn] ?? [];
        const answer = answers[step];
        if (!answer) throw new Error(`the scenario has no answer ${step} in turn ${turn}`);
        const isLast = step === answers.length - 1;
        const key = `${turn}.${step}`;
        const tries = world.#cuts.get(key) ?? 0;
        const cut = answer.cuts[tries];
        world.#cuts.set(key, tries + 1);
        const stream = ++world.#streams;
        const { thoughts, pieces } = answer;
        let reasoning = '';
        let content = '';
        for (let i = 0; i < thoughts + pieces; i++) {
          if (i === cut) throw new Error('the line was cut');
          const isThought = i < thoughts;
          const text = `${isThought ? 'thought' : 'word'} ${turn} ${step} ${tries} ${i} `;
          if (isThought) reasoning += text;
          else content += text;
          yield { type: isThought ? 'reasoning' : 'content', text };
          await world.#spoke(stream, { reasoning, text: content });
        }
        const id = `call-${turn}-${step}`;
        const toolCalls = isLast ? [] : [{ id, name: answer.calls, args: {} }];
        if (!isLast)
          for (const argsDelta of ['{', '}'])
            yield { type: 'tool_call', index: 0, id, name: answer.calls, argsDelta };
        const finishReason = isLast ? 'stop' : 'tool_calls';
        const response = { content, reasoning, toolCalls, finishReason, usage: null } as const;
        yield { type: 'done', response };
      },
    };
  }

  /** Connects or disconnects the clients whose moment it is. */
  #pass(): void {
    const now = ++this.#moment;
    for (const { plan, client } of this.clients)
      if (plan.moments.includes(now)) {
        if (client.isPresent) client.leave();
        else this.join(plan, client);
      }
    if (now === this.scenario.pausesAt) void this.web.pause(this.id, ann);
  }

  join({ isElsewhere }: Pick<ClientPlan, 'isElsewhere'>, client: FeedClient): void {
    client.join(isElsewhere ? this.web : this.worker, this.id);
  }

  async #spoke(stream: number, said: Said): Promise<void> {
    if (stream !== this.#streams) return never();
    this.#pass();
    const now = this.#moment;
    const { diesAt, settlesEvery } = this.scenario;
    const dies = diesAt !== null && now >= diesAt && !this.hasTakenOver;
    await pause(0);
    if (dies || now % settlesEvery === 0) await this.#settled(said);
    if (!dies) return;
    this.#takeOver();
    return never();
  }

  /** Waits until all connected clients have the reasoning and the text so far. */
  #settled(said: Said): Promise<void> {
    const { hasBus } = this.scenario;
    const here = this.clients.filter(({ plan }) => hasBus || !plan.isElsewhere);
    const views = [this.first, ...here.map(({ client }) => client)]
      .filter(({ isPresent }) => isPresent)
      .map(({ view }) => view);
    const expected = JSON.stringify(said);
    const shown = (): string[] => views.map((view) => JSON.stringify(view.said));
    return soon(
      () => `${shown().join()} become ${expected}`,
      () => shown().every((one) => one === expected),
    );
  }

  #takeOver(): void {
    this.hasTakenOver = true;
    this.#victim.die();
    this.worker = runtimeOn(this.#place.open(), this.#agent(), this.#bus);
    for (const { plan, client } of [
      { plan: { isElsewhere: false }, client: this.first },
      ...this.clients,
    ])
      if (client.isPresent && !plan.isElsewhere) {
        client.leave();
        this.join(plan, client);
      }
  }

  /** Runs a turn and waits until all its events are in the log. */
  async turn(text: string): Promise<void> {
    const { web, id } = this;
    const { executionId } = await web.send(id, text, ann);
    await soon(
      () => 'the turn is over',
      async () => {
        void this.worker.recover().catch(() => {});
        const session = await web.get(id, ann);
        for (const callId of callIds(session)) await web.approve(id, callId, ann).catch(() => {});
        if (session.pause?.kind === 'requested') await web.resume(id, ann).catch(() => {});
        return session.executionId === executionId && session.status === 'completed';
      },
    );
    this.log.push(...(await web.events(id, ann)).events);
    await this.reached(this.first);
  }

  reached({ view, failures }: FeedClient): Promise<void> {
    const last = this.log.at(-1);
    return soon(
      () => `${JSON.stringify(view.position)} reaches ${last?.seq}`,
      () => {
        if (failures.length > 0) throw failures[0];
        const { executionId, seq } = view.position ?? {};
        return executionId === last?.event.executionId && seq === last?.seq;
      },
    );
  }
}
