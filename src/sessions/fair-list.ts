export interface FairListLimits {
  /** Most sessions that run at the same time. */
  readonly concurrency: number;
  /** Most of them that belong to one owner. */
  readonly maxPerOwner: number;
  /** Most of them that belong to one agent, by agent name. */
  readonly agents: ReadonlyMap<string, number>;
}

/** Sessions that share a limit: those of one agent with its own limit, or those of all other agents. */
interface Group {
  readonly limit: number;
  running: number;
  /** Sessions whose worker died. They come before all others. */
  readonly lost: Lane;
  readonly others: Lane;
}

/** Sessions of a group that come in the order of turns. */
interface Lane {
  readonly group: Group;
  /** Lines in the order of their turns, without owners who are at their limit. */
  readonly turns: Set<Line>;
}

/** Sessions of one owner that wait in one lane, oldest first. */
interface Line {
  readonly owner: Owner;
  readonly lane: Lane;
  readonly sessionIds: Set<string>;
  /** Turn number. The line with the lowest number is next. */
  turn: number;
}

interface Owner {
  readonly name: string;
  running: number;
  readonly lines: Map<Lane, Line>;
}

/** A running session, as `end` takes it. */
export interface Running {
  readonly sessionId: string;
  readonly owner: Owner;
  readonly group: Group;
}

/**
 * Sessions that wait for their turn. Owners take turns: before a waiting session that no limit holds back, each other
 * owner starts at most one session. Each operation takes constant time in the number of sessions and owners.
 */
export class FairList {
  readonly #limits: FairListLimits;
  readonly #groups: ReadonlyMap<string, Group>;
  readonly #otherAgents: Group = groupOf(Number.POSITIVE_INFINITY);
  readonly #owners: Map<string, Owner> = new Map();
  readonly #waiting: Map<string, Line> = new Map();
  #running = 0;
  #turns = 0;

  constructor(limits: FairListLimits) {
    this.#limits = limits;
    this.#groups = new Map(Array.from(limits.agents, ([agent, limit]) => [agent, groupOf(limit)]));
  }

  /** Number of waiting sessions. */
  get size(): number {
    return this.#waiting.size;
  }

  /** Number of waiting sessions of one owner. */
  sizeOf(owner: string): number {
    let size = 0;
    for (const { sessionIds } of this.#owners.get(owner)?.lines.values() ?? [])
      size += sessionIds.size;
    return size;
  }

  /** Number of additional sessions that could run, regardless of owner and agent. */
  get free(): number {
    return this.#limits.concurrency - this.#running;
  }

  has(sessionId: string): boolean {
    return this.#waiting.has(sessionId);
  }

  /** Whether one more session of this owner and agent could run now. */
  canBegin(owner: string, agent: string): boolean {
    const { running, limit } = this.#groupOf(agent);
    const own = this.#owners.get(owner)?.running ?? 0;
    return this.free > 0 && running < limit && own < this.#limits.maxPerOwner;
  }

  /**
   * Adds a session. A session that already waits keeps its position, unless it is found to be lost: its worker died, and
   * it comes before all sessions that are not lost.
   */
  add(sessionId: string, ownerName: string, agent: string, isLost: boolean = false): void {
    const group = this.#groupOf(agent);
    const ownLane = isLost ? group.lost : group.others;
    const before = this.#waiting.get(sessionId);
    if (before && (!isLost || before.lane === ownLane)) return;
    this.remove(sessionId);
    const owner = this.#owners.get(ownerName) ?? { name: ownerName, running: 0, lines: new Map() };
    this.#owners.set(ownerName, owner);
    const line = owner.lines.get(ownLane) ?? this.#newLine(owner, ownLane);
    line.sessionIds.add(sessionId);
    this.#waiting.set(sessionId, line);
  }

  /** Starts the session whose turn it is. Returns null if no waiting session may run now. */
  next(): Running | null {
    if (this.free <= 0) return null;
    const best = this.#first('lost') ?? this.#first('others');
    if (!best) return null;
    const { owner, lane: ownLane, sessionIds } = best;
    const { group } = ownLane;
    const [sessionId = ''] = sessionIds;
    this.#running++;
    group.running++;
    owner.running++;
    this.remove(sessionId);
    for (const line of owner.lines.values()) this.#requeue(line);
    return { sessionId, owner, group };
  }

  end({ owner, group }: Running): void {
    this.#running--;
    group.running--;
    owner.running--;
    // an owner who was at the limit gets turns again
    for (const line of owner.lines.values()) if (!line.lane.turns.has(line)) this.#requeue(line);
    this.#forget(owner);
  }

  remove(sessionId: string): void {
    const line = this.#waiting.get(sessionId);
    if (!line) return;
    this.#waiting.delete(sessionId);
    line.sessionIds.delete(sessionId);
    if (line.sessionIds.size > 0) return;
    line.owner.lines.delete(line.lane);
    line.lane.turns.delete(line);
    this.#forget(line.owner);
  }

  /** Removes all waiting sessions. */
  clear(): void {
    for (const sessionId of Array.from(this.#waiting.keys())) this.remove(sessionId);
  }

  #groupOf(agent: string): Group {
    return this.#groups.get(agent) ?? this.#otherAgents;
  }

  /** Returns the line whose turn it is in the lanes of this kind; undefined if none may run now. */
  #first(kind: 'lost' | 'others'): Line | undefined {
    let best = firstTurn(this.#otherAgents[kind]);
    for (const group of this.#groups.values()) {
      const line = firstTurn(group[kind]);
      if (line && (!best || line.turn < best.turn)) best = line;
    }
    return best;
  }

  #newLine(owner: Owner, ownLane: Lane): Line {
    const line: Line = { owner, lane: ownLane, sessionIds: new Set(), turn: 0 };
    owner.lines.set(ownLane, line);
    this.#requeue(line);
    return line;
  }

  /** Moves the line to the end. While its owner is at the limit, it gets no turn. */
  #requeue(line: Line): void {
    const { turns } = line.lane;
    turns.delete(line);
    if (line.owner.running >= this.#limits.maxPerOwner) return;
    line.turn = ++this.#turns;
    turns.add(line);
  }

  #forget(owner: Owner): void {
    if (owner.running === 0 && owner.lines.size === 0) this.#owners.delete(owner.name);
  }
}

function groupOf(limit: number): Group {
  const group = { limit, running: 0 } as Group;
  const lane = (): Lane => ({ group, turns: new Set() });
  return Object.assign(group, { lost: lane(), others: lane() });
}

const firstTurn = ({ group, turns }: Lane): Line | undefined =>
  group.running < group.limit ? turns.values().next().value : undefined;
