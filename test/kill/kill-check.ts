import { Message, type SessionRuntime } from 'onward';
import type { SessionStore } from 'onward/stores';
import { modelView } from '../../src/agent/model-view.ts';
import { Messages } from '../../src/messages/messages.ts';
import { pairingProblem } from '../../src/messages/pairing.ts';
import type { AgentStepJSON } from '../../src/agent/agent-state.ts';
import { RowReader } from '../../src/sessions/row-reader.ts';
import type { SessionRow } from '../../src/sessions/session-rows.ts';
import { fateOf, type Call } from './call-fate.ts';
import { leaseOf, type Effect } from './effect-log.ts';
import { planText, readPlan, type Plan } from './kill-agent.ts';
import { OWNER } from './worker-job.ts';

export interface CheckCounts {
  /** Steps of session agents and nested agents. */
  steps: number;
  /** How many times a tool started. */
  toolRuns: number;
  /** Calls that were reported with an unknown effect. */
  unknownFates: number;
  /** Calls of idempotent tools that started more than once. */
  begunAgain: number;
  executions: number;
  /** Compactions of session agents. */
  compactions: number;
}

export interface CheckReport {
  readonly counts: CheckCounts;
  /** Empty if all checks pass. */
  readonly violations: readonly string[];
}

interface Place {
  readonly store: SessionStore;
  readonly runtime: SessionRuntime;
}

/** Reads sessions like a process that knows only the store, and compares them with the logged effects of `seconds`. */
export async function checkSessions(
  place: Place,
  sessions: readonly string[],
  effects: readonly Effect[],
  seconds: number,
): Promise<CheckReport> {
  const counts = {
    steps: 0,
    toolRuns: 0,
    unknownFates: 0,
    begunAgain: 0,
    executions: 0,
    compactions: 0,
  };
  const violations: string[] = [];
  for (const id of sessions) {
    const own = effects.filter(({ session }) => session === id);
    const check = new SessionCheck(place, id, own, counts, seconds);
    await check.all().catch((error: unknown) => check.wrong(`cannot be read: ${String(error)}`));
    violations.push(...check.violations);
  }
  return { counts, violations };
}

/** Checks that the conversation takes another turn and can then be deleted completely. */
export async function checkNextTurn({ store, runtime }: Place, id: string): Promise<string[]> {
  const text = planText(`again-${id}`, [['note']]);
  try {
    const { status, output } = await runtime.send(id, text, { owner: OWNER, wait: true });
    if (status !== 'completed' || output !== `done again-${id}`)
      return [`${id}: the next turn ended ${status} with ${JSON.stringify(output)}`];
    await runtime.delete(id, { owner: OWNER });
    const { rows } = await store.size(id);
    return rows === 0 ? [] : [`${id}: ${rows} rows are left after delete`];
  } catch (error) {
    return [`${id}: the next turn was refused: ${String(error)}`];
  }
}

class SessionCheck {
  readonly violations: string[] = [];
  readonly #place: Place;
  readonly #id: string;
  readonly #effects: readonly Effect[];
  readonly #counts: CheckCounts;
  readonly #reader: RowReader;
  readonly #seconds: number;

  constructor(
    place: Place,
    id: string,
    effects: readonly Effect[],
    counts: CheckCounts,
    seconds: number,
  ) {
    this.#place = place;
    this.#seconds = seconds;
    this.#id = id;
    this.#effects = effects;
    this.#counts = counts;
    this.#reader = new RowReader(place.store, { id, owner: '' });
  }

  wrong(what: string): void {
    this.violations.push(`${this.#id}: ${what}`);
  }

  async all(): Promise<void> {
    const { store } = this.#place;
    const row = await store.find(this.#id);
    if (!row) return this.wrong('is missing');
    this.#leases();
    if (row.phase !== 'idle') return this.wrong(`did not end: ${await this.#whatIsOpen(row)}`);
    if (row.worker !== null) this.wrong(`is over, and ${row.worker} still has it`);
    const messages = await this.#messages('');
    const steps = await this.#steps('');
    this.#conversation(messages);
    this.#sends(messages, steps);
    await this.#compactions(messages, row.messageCount);
    const byExecution = new Map<string, AgentStepJSON[]>();
    for (const step of steps)
      byExecution.set(step.executionId, [...(byExecution.get(step.executionId) ?? []), step]);
    let modelCalls = steps.length;
    for (const [execution, own] of byExecution) {
      this.#counts.executions += 1;
      modelCalls += await this.#execution(execution, own, messages);
    }
    this.#counts.steps += modelCalls;
    const { info } = await this.#place.runtime.get(this.#id, { owner: OWNER });
    if (info.stepCount !== steps.length || info.stepCount !== row.stepCount)
      this.wrong(`counts ${info.stepCount} and ${row.stepCount} steps, and has ${steps.length}`);
    const { cumulativeExecutionSeconds: worked } = info;
    if (!(worked >= 0 && worked <= this.#seconds))
      this.wrong(`worked ${worked} of ${this.#seconds} seconds`);
    const { isStopped } = this;
    // a nested agent that was stopped in mid-step has used more than its recorded steps
    if (!isStopped && (info.usage.input !== modelCalls || info.cost !== modelCalls))
      this.wrong(
        `booked ${info.usage.input} tokens and ${info.cost} dollars for ${modelCalls} steps`,
      );
    const strangers = this.#of('begin').filter(({ execution }) => !byExecution.has(execution));
    for (const { subject } of strangers) this.wrong(`${subject} ran for no execution`);
  }

  async #whatIsOpen({ phase, status, executionId, worker }: SessionRow): Promise<string> {
    const { store } = this.#place;
    const calls: string[] = [];
    for (const state of ['waiting', 'decided', 'started'] as const)
      for (const { callId } of await store.calls(this.#id, executionId ?? '', { state }))
        calls.push(`${callId} ${state}`);
    const next = await store.nextCommand(this.#id);
    return `${phase}, ${status}, held by ${worker}, calls [${calls.join(', ')}], next command ${next?.kind}`;
  }

  get isStopped(): boolean {
    return this.#of('stopping').length > 0;
  }

  #of(...kinds: readonly Effect['kind'][]): readonly Effect[] {
    return this.#effects.filter(({ kind }) => kinds.includes(kind));
  }

  /** Checks that a replaced worker starts nothing. */
  #leases(): void {
    let newest = 0;
    for (const effect of this.#of('claimed', 'begin')) {
      if (effect.kind === 'claimed') newest = Math.max(newest, Number(effect.subject));
      // 0: the parent process does not know its leases
      else if (leaseOf(effect) > 0 && leaseOf(effect) < newest)
        this.wrong(
          `${effect.execution}: ${effect.subject} (${effect.what}) began in process ${effect.pid} under lease ${leaseOf(effect)}, which ${newest} had replaced`,
        );
    }
  }

  #conversation(messages: readonly Message[]): void {
    const problem = pairingProblem(messages);
    if (problem !== null) this.wrong(`is no valid conversation: ${problem}`);
    const ids = new Set(messages.map(({ id }) => id));
    if (ids.size !== messages.length) this.wrong('has a message twice');
  }

  /** Checks that compactions are numbered without gaps, name stored messages, and leave a valid request. */
  async #compactions(messages: readonly Message[], messageCount: number): Promise<void> {
    const rows = await this.#place.store.compactions(this.#id, '');
    this.#counts.compactions += rows.length;
    for (const [i, { position, toPosition }] of rows.entries())
      if (position !== i || toPosition > messageCount)
        this.wrong(`has compaction ${position} as number ${i}, up to ${toPosition}`);
    const { items } = await this.#place.runtime.compactions(this.#id, { owner: OWNER, limit: 500 });
    if (items.length !== rows.length)
      this.wrong(`counts ${items.length} compactions of ${rows.length}`);
    const problem = pairingProblem([...modelView(Messages.from(messages), items)]);
    if (problem !== null) this.wrong(`is compacted to an invalid request: ${problem}`);
  }

  /** Checks that accepted messages are stored once, refused ones not at all, and others at most once. */
  #sends(messages: readonly Message[], steps: readonly AgentStepJSON[]): void {
    const tags = messages.flatMap(({ role, content }) =>
      role === 'user' ? (readPlan(content)?.tag ?? []) : [],
    );
    for (const execution of new Set(this.#of('sending').map((effect) => effect.execution))) {
      const count = tags.filter((tag) => tag === execution).length;
      const answers = this.#of('accepted', 'refused').filter((e) => e.execution === execution);
      const said = (answers.find(({ kind }) => kind === 'accepted') ?? answers[0])?.kind;
      const attempts = this.#of('sending').filter((e) => e.execution === execution).length;
      // if one attempt was refused, an earlier one without an answer may still have succeeded
      const most = said === 'refused' && attempts === 1 ? 0 : 1;
      const least = said === 'accepted' ? 1 : 0;
      if (count < least || count > most)
        this.wrong(`${execution} (${said}) is there ${count} times`);
      const hasSteps = steps.some(({ executionId }) => executionId === execution);
      if (hasSteps !== count > 0 && !this.isStopped)
        this.wrong(`${execution} has ${count} messages and ${hasSteps ? '' : 'no '}steps`);
    }
  }

  /** Checks an execution and returns the number of steps of its nested agents. */
  async #execution(
    execution: string,
    steps: readonly AgentStepJSON[],
    messages: readonly Message[],
  ): Promise<number> {
    const { store } = this.#place;
    this.#numbered(execution, '', steps);
    this.#asPlanned(execution, steps, messages);
    const calls = steps.flatMap(callsOf);
    const messageIds = new Set(messages.map(({ id }) => id));
    let nestedSteps = 0;
    for (const { agentId, callId, head } of await store.agents(this.#id, execution)) {
      const nested = await this.#steps(agentId);
      nestedSteps += nested.length;
      this.#numbered(execution, agentId, nested);
      const own = nested.flatMap(callsOf);
      calls.push(...own);
      const nestedMessages = await this.#messages(agentId);
      // a stop of its parent may leave it in the middle of a step
      const { pending = [] } = await this.#reader.head(head);
      for (const { id } of [...nestedMessages, ...pending]) messageIds.add(id);
      const parent = calls.find(({ id }) => id === callId);
      if (!parent) this.wrong(`an agent ran behind ${callId}, which no step has`);
      if (parent?.result?.kind !== 'ok') continue;
      const problem = pairingProblem(nestedMessages);
      if (problem !== null) this.wrong(`the agent behind ${callId}: ${problem}`);
    }
    await this.#log(execution, messageIds);
    await this.#ledger(execution, calls);
    this.#over(execution);
    return nestedSteps;
  }

  #numbered(execution: string, agentId: string, steps: readonly AgentStepJSON[]): void {
    const who = `${execution} ${agentId}`;
    for (const [i, { number, outcome, durationMs }] of steps.entries()) {
      if (!(durationMs >= 0 && durationMs <= this.#seconds * 1000))
        this.wrong(`${who}: step ${number} took ${durationMs} ms`);
      if (number !== i + 1) this.wrong(`${who}: step ${i + 1} is numbered ${number}`);
      if (outcome === null) this.wrong(`${who}: step ${number} has no outcome`);
    }
    const received = this.#of('received').filter(
      (e) => e.execution === execution && e.what === 'AgentStepCompleted',
    );
    for (const { detail } of received) {
      const [agent, number] = detail.split('#');
      if (agent === agentId && !steps.some((step) => step.number === Number(number)))
        this.wrong(`${who}: step ${number} was announced, and is not there`);
    }
  }

  #asPlanned(
    execution: string,
    steps: readonly AgentStepJSON[],
    messages: readonly Message[],
  ): void {
    const plan = messages.map(({ content }) => readPlan(content)).find((r) => r?.tag === execution);
    const done = steps.map(({ toolCalls }) => toolCalls.map(({ name }) => name));
    const wanted: Plan = [...(plan?.plan ?? []), []];
    const last = steps.at(-1)?.outcome;
    const stopReason = last?.stopReason ?? (last?.shouldContinue ? 'none' : 'unknown');
    const isDone = JSON.stringify(done) === JSON.stringify(wanted);
    if (stopReason === 'completed' && isDone) return;
    if (stopReason !== 'completed' && this.isStopped) return;
    this.wrong(`${execution} ended with ${stopReason} after ${JSON.stringify(done)}`);
  }

  /** Checks that the event log has no gap and no duplicate and contains the emitted events. */
  async #log(execution: string, messageIds: ReadonlySet<string>): Promise<void> {
    const types: string[] = [];
    const completed = new Set<string>();
    for (;;) {
      const range = { owner: OWNER, executionId: execution, after: types.length };
      const { events } = await this.#place.runtime.events(this.#id, range);
      if (events.length === 0) break;
      for (const { seq, event } of events) {
        types.push(event.type);
        if (seq !== types.length)
          return this.wrong(`${execution}: event ${types.length} is numbered ${seq}`);
        if (event.type === 'AgentStepCompleted') {
          const step = `${event.agentId}#${event.stepNumber}`;
          if (completed.has(step)) this.wrong(`${execution}: step ${step} was completed twice`);
          completed.add(step);
        }
        if (event.type === 'MessageAdded' && !messageIds.has(event.messageId))
          this.wrong(`${execution}: message ${event.messageId} was announced, and is not there`);
      }
    }
    const last = types.at(-1);
    if (last !== 'AgentFinished') this.wrong(`${execution}: the log ends with ${last}`);
    const received = new Set<string>();
    for (const { execution: of, subject, what } of this.#of('received')) {
      if (of !== execution) continue;
      if (received.has(subject)) this.wrong(`${execution}: event ${subject} was received twice`);
      received.add(subject);
      const written = types[Number(subject) - 1];
      if (written !== what)
        this.wrong(`${execution}: event ${subject} was received as ${what}, and is ${written}`);
    }
  }

  /** Checks that nothing runs after the end was emitted. */
  #over(execution: string): void {
    const own = this.#effects.filter((e) => e.execution === execution);
    const end = own.findIndex(({ kind, detail }) => kind === 'received' && detail === '#end');
    // the writer may have died before it notified listeners
    for (const { kind, subject } of end === -1 ? [] : own.slice(end))
      if (kind === 'begin') this.wrong(`${execution} had ended when ${subject} began`);
  }

  async #ledger(execution: string, calls: readonly Call[]): Promise<void> {
    const { store } = this.#place;
    const callIds = calls.map(({ id }) => id);
    if (new Set(callIds).size < callIds.length) this.wrong(`${execution}: a call id is used twice`);
    const rows = await store.calls(this.#id, execution, { callIds });
    for (const call of calls) {
      const row = rows.find(({ callId }) => callId === call.id);
      if (row?.state !== 'committed')
        this.wrong(`${execution}: ${call.id} (${call.tool}) is ${row?.state} in the ledger`);
      else {
        const lines = this.#effects.filter((e) => e.execution === execution);
        const fate = fateOf(call, row.starts, lines, this.isStopped);
        for (const problem of fate.problems) this.wrong(`${execution}: ${problem}`);
        this.#counts.toolRuns += fate.begins;
        this.#counts.unknownFates += Number(fate.isUnknown);
        this.#counts.begunAgain += Number(fate.isBegunAgain);
      }
    }
    const known = new Set(callIds);
    for (const { execution: of, subject, what } of this.#of('begin'))
      if (of === execution && !known.has(subject) && !this.isStopped)
        this.wrong(`${execution}: ${subject} (${what}) ran, and no step knows of it`);
  }

  async #messages(agentId: string): Promise<readonly Message[]> {
    const rows = await this.#place.store.messages(this.#id, agentId);
    for (const [i, { position }] of rows.entries())
      if (position !== i) this.wrong(`message ${i} of "${agentId}" is at ${position}`);
    return (await this.#reader.values<Message>(rows)).map((json) => Message.from(json));
  }

  async #steps(agentId: string): Promise<readonly AgentStepJSON[]> {
    const rows = await this.#place.store.steps(this.#id, agentId);
    for (const [i, { position }] of rows.entries())
      if (position !== i) this.wrong(`step ${i} of "${agentId}" is at ${position}`);
    return this.#reader.values<AgentStepJSON>(rows);
  }
}

const callsOf = ({ toolCalls, results }: AgentStepJSON): Call[] =>
  toolCalls.map(({ id, name }) => ({
    id,
    tool: name,
    result: results.find(({ callId }) => callId === id),
  }));
