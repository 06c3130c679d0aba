/** A process that connects to a bus and closes the connection on a line of input, after which it exits. */
import { once } from 'node:events';
import { postgresBus } from 'onward/bus/postgres';
import { redisBus } from 'onward/bus/redis';

const [kind, url = ''] = process.argv.slice(2);
const bus = kind === 'redis' ? redisBus({ connection: url }) : postgresBus({ listenUrl: url });
const connection = bus.open('child', {
  received: () => {},
  connected: () => console.log('connected'),
  failed: (error) => console.log(String(error)),
});
console.log('opened');
await once(process.stdin, 'data');
await connection.close();
process.stdin.destroy();
console.log('closed');
