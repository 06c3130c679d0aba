import { ErrorPolicy, type Agent, type InferenceDriver, type SessionRuntime } from 'onward';
import { mockTool } from 'onward/testing';
import type { NumberedEvent } from '../../src/sessions/event-log.ts';
import { FeedClient, type Reading } from './following.ts';
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

/** One answer of the model: its pieces, after which attempts it is cut off, and what it calls. */
export interface Answer {
  readonly pieces: number;
  readonly cuts: readonly number[];
  readonly calls: 'look' | 'pay';
}
/** A client: where it reads, and the moments at which it comes and goes in turn. */
export interface ClientPlan extends Reading {
  readonly isElsewhere: boolean;
  readonly moments: readonly number[];
}
export interface Scenario {
  /** Each turn ends with an answer that calls nothing. */
  readonly turns: readonly (readonly Answer[])[];
  readonly prunes: readonly boolean[];
  readonly clients: readonly ClientPlan[];
  /** At each of these moments the model waits until all have its text so far. */
  readonly settlesEvery: number;
  readonly pausesAt: number | null;
  readonly diesAt: number | null;
}

const never = (): Promise<never> => new Promise(() => {});
const lease = { leaseMs: 300, heartbeatMs: 50 };

/** Waits for something that takes no time but turns; what never comes is an error. */
async function soon(what: () => string, look: () => boolean | Promise<boolean>): Promise<void> {
  const end = Date.now() + 10_000;
  while (!(await look())) {
    if (Date.now() > end) throw new Error(`never: ${what()}`);
    await pause(1);
  }
}

/** A session that is worked on here or, after a death, elsewhere, and those who read it. */
export class FeedScenario {
  readonly scenario: Scenario;
  readonly id: string = 's';
  readonly #place: Place = memoryPlace();
  readonly web: SessionRuntime;
  readonly #victim = mortal(this.#place.open());
  /** Was there from the start. */
  readonly first: FeedClient = new FeedClient({ isSmall: false, pace: 0 });
  readonly clients: readonly { readonly plan: ClientPlan; readonly client: FeedClient }[];
  readonly log: NumberedEvent[] = [];
  worker: SessionRuntime;
  prunedTo = 0;
  hasTakenOver = false;
  #moment = 0;
  #streams = 0;
  readonly #cuts = new Map<string, number>();

  constructor(scenario: Scenario) {
    this.scenario = scenario;
    this.clients = scenario.clients.map((plan) => ({ plan, client: new FeedClient(plan) }));
    this.web = clientOn(this.#place.open(), this.#agent());
    this.worker = runtimeOn(
      this.#victim.store,
      this.#agent(),
      scenario.diesAt === null ? {} : { lease },
    );
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
        let content = '';
        for (let i = 0; i < answer.pieces; i++) {
          if (i === cut) throw new Error('the line was cut');
          const text = `word ${turn} ${step} ${tries} ${i} `;
          content += text;
          yield { type: 'content', text };
          await world.#spoke(stream, content);
        }
        const id = `call-${turn}-${step}`;
        const toolCalls = isLast ? [] : [{ id, name: answer.calls, args: {} }];
        if (!isLast)
          for (const argsDelta of ['{', '}'])
            yield { type: 'tool_call', index: 0, id, name: answer.calls, argsDelta };
        const finishReason = isLast ? 'stop' : 'tool_calls';
        yield { type: 'done', response: { content, toolCalls, finishReason, usage: null } };
      },
    };
  }

  /** Those whose moment it is come or go. */
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

  async #spoke(stream: number, text: string): Promise<void> {
    if (stream !== this.#streams) return never();
    this.#pass();
    const now = this.#moment;
    const { diesAt, settlesEvery } = this.scenario;
    const dies = diesAt !== null && now >= diesAt && !this.hasTakenOver;
    await pause(0);
    if (dies || now % settlesEvery === 0) await this.#settled(text);
    if (!dies) return;
    this.#takeOver();
    return never();
  }

  /** All who are here see the text so far. */
  #settled(text: string): Promise<void> {
    const here = this.clients.filter(({ plan }) => !plan.isElsewhere);
    const views = [this.first, ...here.map(({ client }) => client)]
      .filter(({ isPresent }) => isPresent)
      .map(({ view }) => view);
    const shown = (): string => JSON.stringify(views.map((view) => view.shown?.text));
    return soon(
      () => `${shown()} become "${text}"`,
      () => views.every((view) => view.shown?.text === text),
    );
  }

  #takeOver(): void {
    this.hasTakenOver = true;
    this.#victim.die();
    this.worker = runtimeOn(this.#place.open(), this.#agent());
    for (const { plan, client } of [
      { plan: { isElsewhere: false }, client: this.first },
      ...this.clients,
    ])
      if (client.isPresent && !plan.isElsewhere) {
        client.leave();
        this.join(plan, client);
      }
  }

  /** All events of a turn are in the log. */
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
