import { describe, expect, it } from 'vitest';
import { FairList, type FairListLimits, type Running } from './fair-list.ts';

const listWith = (limits: Partial<FairListLimits> = {}): FairList =>
  new FairList({
    concurrency: 100,
    maxPerOwner: 100,
    agents: new Map(),
    ...limits,
  });

/** Starts all sessions that may start. */
function beginAll(list: FairList): Running[] {
  const begun: Running[] = [];
  for (let turn = list.next(); turn; turn = list.next()) begun.push(turn);
  return begun;
}
const idsOf = (begun: readonly Running[]): string[] => begun.map(({ sessionId }) => sessionId);

describe('FairList', () => {
  it('gives owners turns, each with the oldest session of that owner', () => {
    const list = listWith();
    for (const id of ['a1', 'a2', 'a3', 'b1', 'b2', 'c1']) list.add(id, id[0] ?? '', '');
    expect(idsOf(beginAll(list))).toEqual(['a1', 'b1', 'c1', 'a2', 'b2', 'a3']);
  });

  it('places a new owner after the waiting owners and before their second sessions', () => {
    const list = listWith({ concurrency: 1 });
    const next = (): string => {
      const turn = list.next();
      if (turn) list.end(turn);
      return turn?.sessionId ?? '';
    };
    for (const id of ['a1', 'a2', 'a3', 'b1']) list.add(id, id[0] ?? '', '');
    expect(next()).toBe('a1');
    list.add('c1', 'c', '');
    expect([next(), next(), next(), next()]).toEqual(['b1', 'a2', 'c1', 'a3']);
  });

  it('starts lost sessions first, within the limits, and by owner in turn', () => {
    const list = listWith({ concurrency: 5, maxPerOwner: 2, agents: new Map([['one', 1]]) });
    for (const id of ['a1', 'b1', 'b2']) list.add(id, id[0] ?? '', '');
    for (const id of ['b3', 'b4', 'b5', 'c1']) list.add(id, id[0] ?? '', '', true);
    for (const id of ['d1', 'd2']) list.add(id, id, 'one', true);
    const begun = beginAll(list);
    expect(idsOf(begun)).toEqual(['b3', 'c1', 'd1', 'b4', 'a1']);
    for (const turn of begun) list.end(turn);
    expect(idsOf(beginAll(list))).toEqual(['d2', 'b5', 'b1']);
  });

  it('moves a waiting session that is found to be lost before all others, once', () => {
    const list = listWith({ concurrency: 1 });
    for (const id of ['a1', 'a2', 'b1']) list.add(id, id[0] ?? '', '');
    list.add('a2', 'a', '', true);
    list.add('b1', 'b', '', true);
    list.add('a2', 'a', '', false);
    list.add('a2', 'a', '', true);
    expect(list.size).toBe(3);
    const order: string[] = [];
    for (let turn = list.next(); turn; turn = list.next()) {
      order.push(turn.sessionId);
      list.end(turn);
    }
    expect([order, list.size]).toEqual([['a2', 'b1', 'a1'], 0]);
  });

  it('holds back an owner who is at the limit until one session of that owner ends', () => {
    const list = listWith({ maxPerOwner: 1 });
    for (const id of ['a1', 'a2', 'b1']) list.add(id, id[0] ?? '', '');
    const begun = beginAll(list);
    expect(idsOf(begun)).toEqual(['a1', 'b1']);
    expect([list.canBegin('a', ''), list.canBegin('c', '')]).toEqual([false, true]);
    for (const turn of begun) list.end(turn);
    expect(idsOf(beginAll(list))).toEqual(['a2']);
  });

  it('holds back the sessions of an agent that is at its limit, but no other sessions of their owners', () => {
    const list = listWith({ agents: new Map([['slow', 1]]) });
    list.add('a1', 'a', 'slow');
    list.add('a2', 'a', 'slow');
    list.add('a3', 'a', 'quick');
    list.add('b1', 'b', 'slow');
    const [first] = beginAll(list);
    expect(list.size).toBe(2);
    expect([list.canBegin('c', 'slow'), list.canBegin('c', 'quick')]).toEqual([false, true]);
    list.end(first!);
    expect(idsOf(beginAll(list))).toEqual(['b1']);
  });

  it('gives an owner one turn across the lists of two agents', () => {
    const list = listWith({ concurrency: 1, agents: new Map([['slow', 5]]) });
    list.add('a1', 'a', 'slow');
    list.add('a2', 'a', 'quick');
    list.add('b1', 'b', 'quick');
    const first = list.next()!;
    list.end(first);
    expect([first.sessionId, list.next()?.sessionId]).toEqual(['a1', 'b1']);
  });

  it('keeps the turn of an owner when sessions of that owner end', () => {
    const list = listWith({ concurrency: 2 });
    for (const id of ['a1', 'a2', 'a3']) list.add(id, 'a', '');
    const [first, second] = beginAll(list);
    for (const id of ['b1', 'b2']) list.add(id, 'b', '');
    list.end(first!);
    expect(list.next()?.sessionId).toBe('a3');
    list.add('a4', 'a', '');
    list.end(second!);
    expect(list.next()?.sessionId).toBe('b1');
  });

  it('forgets removed and cleared sessions, and owners without sessions', () => {
    const list = listWith({ concurrency: 1 });
    for (const id of ['a1', 'a2', 'b1']) list.add(id, id[0] ?? '', '');
    list.add('a1', 'other', '');
    list.remove('a1');
    list.remove('unknown');
    expect([list.size, list.has('a1'), list.has('a2')]).toEqual([2, false, true]);
    const turn = list.next()!;
    list.clear();
    expect([turn.sessionId, list.size, list.free, list.next()]).toEqual(['a2', 0, 0, null]);
    list.end(turn);
    expect([list.free, list.next()]).toEqual([1, null]);
  });
});
