import { AgentError } from '../../errors/agent-error.ts';
import { holds, same } from '../store-contract/expect.ts';
import type { BusCase } from './bus-harness.ts';

export const connectionCases: readonly BusCase[] = [
  {
    name: 'connects in the background, and can send when it says so',
    async run(peers) {
      const [a] = await peers.connect(1);
      const b = peers.open();
      holds(!b.connection.isConnected && b.connects === 0, 'open returns before it is connected');
      b.send(a, 'too early');
      await b.until('it is connected', () => b.connects === 1);
      holds(b.connection.isConnected, 'isConnected is true');
      b.send(a, 'end');
      same(await a.untilReceived('end'), ['end'], 'what arrived');
    },
  },
  {
    name: 'an answer from within a handler arrives',
    async run(peers) {
      const [a, b] = await peers.connect(2);
      b.onText = (text) => b.send(a, `${text}!`);
      a.send(b, 'hello');
      await a.untilReceived('hello!');
    },
  },
  {
    name: 'an error that a handler throws is reported, and the next message arrives',
    async run(peers) {
      const [a, b] = await peers.connect(2);
      const bug = new Error('a bug in the handler');
      b.onText = (text) => {
        if (text === 'first') throw bug;
      };
      a.send(b, 'first');
      a.send(b, 'second');
      await b.untilReceived('second');
      holds(b.failures.length === 1 && b.failures[0] === bug, 'the error is reported');
    },
  },
  {
    name: 'a burst neither throws nor stops the bus; what arrives is in order',
    async run(peers) {
      const [a, b] = await peers.connect(2);
      for (let i = 0; i < 5_000; i++) a.send(b, `${i}`, { isDroppable: true });
      a.send(b, 'end');
      const received = await b.untilReceived('end');
      const seen = received.slice(0, -1).map(Number);
      holds(seen.length > 0, 'some of the burst arrives');
      holds(
        seen.every((number, i) => i === 0 || number > (seen[i - 1] ?? 0)),
        'messages arrive in order',
      );
    },
  },
  {
    name: 'close sends what was sent before, and is the end',
    async run(peers) {
      const [a, b, c] = await peers.connect(3);
      a.send(b, 'last');
      await a.connection.close();
      await a.connection.close();
      holds(!a.connection.isConnected, 'isConnected is false');
      a.send(b, 'too late');
      b.send(a, 'too late');
      await b.untilReceived('last');
      c.send(null, 'end');
      same(await b.untilReceived('end'), ['last', 'end'], 'what arrived at b');
      same([a.received, a.failures], [[], []], 'what was reported to the closed connection');
    },
  },
  {
    name: 'closes before it is connected',
    async run(peers) {
      const a = peers.open();
      await a.connection.close();
      same([a.connects, a.failures, a.connection.isConnected], [0, [], false], 'what was reported');
    },
  },
  {
    name: 'reports a breakdown, loses what is sent meanwhile, and connects again by itself',
    async run(peers) {
      const { breakdown } = peers.harness;
      if (!breakdown) return;
      const [a, b] = await peers.connect(2);
      const restore = await breakdown();
      for (const peer of [a, b]) {
        await peer.until('the loss is reported', () => peer.failures.length > 0);
        holds(
          AgentError.is(peer.failures[0], 'bus_failed') &&
            peer.failures[0].details['reason'] === 'disconnected',
          'the error says disconnected',
        );
        holds(!peer.connection.isConnected, 'isConnected is false');
      }
      a.send(b, 'lost');
      await restore();
      for (const peer of [a, b]) await peer.until('it is connected', () => peer.connects === 2);
      a.send(b, 'end');
      same(await b.untilReceived('end'), ['end'], 'what arrived');
    },
  },
];
