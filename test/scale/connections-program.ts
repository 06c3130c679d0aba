/** A process that connects to PostgreSQL in all ways of a worker, and keeps trying until each works. */
import { postgresBus } from 'onward/bus/postgres';
import { bullQueue } from 'onward/queues/bullmq';
import { postgresStore } from 'onward/stores/postgres';

const [url = '', name = ''] = process.argv.slice(2);
const store = postgresStore({ connectionString: url, schema: `store_${name}` });
const queue = bullQueue({ connection: url, prefix: `queue_${name}`, onError: () => {} });
const bus = postgresBus({ listenUrl: url, channel: `bus.${name}` });

async function useStore(): Promise<void> {
  try {
    await store.workload();
    console.log('store');
  } catch {
    setTimeout(() => void useStore(), 50);
  }
}

void useStore();
bus.open('program', {
  received: () => {},
  connected: () => console.log('bus'),
  failed: () => {},
});
queue.start(async () => console.log('queue'));
void queue.add('s');
