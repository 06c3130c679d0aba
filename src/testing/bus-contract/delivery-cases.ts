import { AgentError } from '../../errors/agent-error.ts';
import { utf8Bytes } from '../../json.ts';
import { holds, same } from '../store-contract/expect.ts';
import type { BusCase, Peer, Peers } from './bus-harness.ts';

const numbers = (count: number): readonly string[] =>
  Array.from({ length: count }, (_n, i) => `${i}`);

/** A text that has this many bytes with the mark, of characters with one to four. */
function textOfBytes({ mark }: Peers, bytes: number): string {
  const space = bytes - utf8Bytes(mark);
  const text = '👩é你'.repeat(Math.floor(space / 9));
  return text + 'x'.repeat(space - utf8Bytes(text));
}

/** What is refused is reported to the sender, and what follows arrives. */
async function refuses(from: Peer, to: Peer, text: string, reason: string): Promise<void> {
  from.send(to, text);
  same(from.failures, [], 'failures before send has returned');
  from.send(to, 'end');
  same(await to.untilReceived('end'), ['end'], 'what arrived');
  await from.until('a failure is reported', () => from.failures.length > 0);
  const [error] = from.failures;
  holds(
    from.failures.length === 1 && AgentError.is(error, 'bus_failed'),
    'one error with code bus_failed is reported',
  );
  same((error as AgentError).details['reason'], reason, 'the reason');
}

export const deliveryCases: readonly BusCase[] = [
  {
    name: 'a message to one node arrives there alone',
    async run(peers) {
      const [a, b, c] = await peers.connect(3);
      a.send(b, 'for b');
      a.send(c, 'for c');
      a.send(null, 'end');
      same(await b.untilReceived('end'), ['for b', 'end'], 'what arrived at b');
      same(await c.untilReceived('end'), ['for c', 'end'], 'what arrived at c');
    },
  },
  {
    name: 'a message to all arrives at all others and not at its sender',
    async run(peers) {
      const [a, b, c] = await peers.connect(3);
      a.send(null, 'hello');
      same(await b.untilReceived('hello'), ['hello'], 'what arrived at b');
      same(await c.untilReceived('hello'), ['hello'], 'what arrived at c');
      b.send(a, 'end');
      same(await a.untilReceived('end'), ['end'], 'what arrived at the sender');
    },
  },
  {
    name: 'a message to the own node does not arrive at its sender',
    async run(peers) {
      const [a, b] = await peers.connect(2);
      a.send(a, 'to myself');
      a.send(b, 'end');
      await b.untilReceived('end');
      b.send(a, 'end');
      same(await a.untilReceived('end'), ['end'], 'what arrived at the sender');
    },
  },
  {
    name: 'messages of one sender arrive in order, to one and to all',
    async run(peers) {
      const [a, b] = await peers.connect(2);
      const texts = numbers(500);
      for (const [i, text] of texts.entries()) a.send(i % 3 === 0 ? null : b, text);
      same(await b.untilReceived('499'), texts, 'what arrived');
    },
  },
  {
    name: 'messages of several senders at once all arrive, those of each in order',
    async run(peers) {
      const [a, b, c] = await peers.connect(3);
      for (const text of numbers(200)) {
        a.send(c, `a ${text}`);
        b.send(c, `b ${text}`);
      }
      await c.untilReceived('a 199');
      await c.untilReceived('b 199');
      for (const name of ['a', 'b'])
        same(
          c.received.filter((text) => text.startsWith(name)),
          numbers(200).map((text) => `${name} ${text}`),
          `what ${name} sent`,
        );
    },
  },
  {
    name: 'equal messages arrive as often as they are sent',
    async run(peers) {
      const [a, b] = await peers.connect(2);
      for (let i = 0; i < 20; i++) a.send(b, 'again');
      a.send(b, 'end');
      same(
        await b.untilReceived('end'),
        [...Array<string>(20).fill('again'), 'end'],
        'what arrived',
      );
    },
  },
  {
    name: 'a text arrives as it was sent, whatever is in it',
    async run(peers) {
      const [a, b] = await peers.connect(2);
      const odd = [
        '',
        ' \t\r\n ',
        'Grüße, 你好, 👩‍👩‍👧‍👦 e\u0301 \u202Ertl \u2028 \uFEFF \u0001\u007F',
        `'); drop table sessions; -- $1 $$ "quotes" \\ \\n {"a":[1,"b,c"],"d":null} {,} NULL`,
        '*3\r\n$7\r\nPUBLISH\r\n',
        '1000000000000:not a frame',
      ];
      for (const text of [...odd, 'end']) a.send(b, text);
      same(await b.untilReceived('end'), [...odd, 'end'], 'what arrived');
    },
  },
  {
    name: 'a message of maxBytes arrives, and many of them',
    async run(peers) {
      const [a, b] = await peers.connect(2);
      const { maxBytes } = peers.harness.bus();
      const text = textOfBytes(peers, maxBytes);
      for (let i = 0; i < 20; i++) a.send(b, text);
      a.send(b, 'end');
      const received = await b.untilReceived('end');
      holds(
        received.length === 21 && received.slice(0, 20).every((one) => one === text),
        '20 arrive',
      );
    },
  },
  {
    name: 'a message over maxBytes is reported and not sent',
    async run(peers) {
      const [a, b] = await peers.connect(2);
      const { maxBytes } = peers.harness.bus();
      await refuses(a, b, textOfBytes(peers, maxBytes + 1), 'too_large');
    },
  },
  ...['a NUL \0 inside', 'half of a pair \uD83D', '\uDC69'].map((text, i): BusCase => ({
    name: `text that is not well-formed is reported and not sent (${i + 1})`,
    async run(peers) {
      const [a, b] = await peers.connect(2);
      await refuses(a, b, text, 'not_text');
    },
  })),
  {
    name: 'any text names a node, and similar names are different nodes',
    async run(peers) {
      const names = [
        '',
        'x',
        'X',
        'x ',
        '*',
        'x_',
        `"; unlisten *; --`,
        '\0',
        '你',
        'n'.repeat(5_000),
      ];
      const nodes = names.map((name) => peers.open(`${peers.mark}${name}`));
      const [sender] = await peers.connect(1);
      for (const node of nodes) await node.until('it is connected', () => node.connects > 0);
      for (const [i, node] of nodes.entries()) sender.send(node, `${i}`);
      sender.send(null, 'end');
      for (const [i, node] of nodes.entries())
        same(await node.untilReceived('end'), [`${i}`, 'end'], `what arrived at node ${i}`);
    },
  },
  {
    name: 'a message to a node that does not exist is lost, and nothing else',
    async run(peers) {
      const [a, b] = await peers.connect(2);
      a.connection.send('no such node', 'hello');
      a.send(b, 'end');
      same(await b.untilReceived('end'), ['end'], 'what arrived');
      same(a.failures, [], 'failures');
    },
  },
];
