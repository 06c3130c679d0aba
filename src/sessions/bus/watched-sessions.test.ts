import { describe, expect, it } from 'vitest';
import { WatchedSessions } from './watched-sessions.ts';

describe('sessions that other nodes watch', () => {
  it('are known by node until they are unwatched', () => {
    const watched = new WatchedSessions();
    watched.watch('a', ['s', 't']);
    watched.watch('b', ['s']);
    expect([...watched.nodesOf('s')]).toEqual(['a', 'b']);
    watched.unwatch('a', ['s', 'unknown']);
    expect([...watched.nodesOf('s')]).toEqual(['b']);
    watched.unwatch('b', ['s']);
    expect([watched.isWatched('s'), watched.isWatched('t')]).toEqual([false, true]);
  });

  it('are forgotten when their node does not repeat them', () => {
    let now = 0;
    const watched = new WatchedSessions(() => now);
    watched.watch('dead', ['s', 't']);
    watched.watch('alive', ['s']);
    for (let i = 0; i < 8; i++) {
      now += 20_000;
      watched.watch('alive', ['s']);
    }
    expect([...watched.nodesOf('s')]).toEqual(['alive']);
    expect(watched.isWatched('t')).toBe(false);
  });

  it('are limited by node', () => {
    const watched = new WatchedSessions();
    const ids = Array.from({ length: 100_001 }, (_, i) => `s${i}`);
    watched.watch('greedy', ids);
    expect(watched.isWatched('s99999')).toBe(true);
    expect(watched.isWatched('s100000')).toBe(false);
    watched.watch('modest', ['s100000']);
    expect(watched.isWatched('s100000')).toBe(true);
  });
});
