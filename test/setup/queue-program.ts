import { bullQueue } from 'onward/queues/bullmq';

/** Works with a queue until it is asked to stop. After that nothing keeps it running. */
const queue = bullQueue({
  connection: process.argv[2] ?? '',
  prefix: process.argv[3] ?? '',
  onError: (error) => console.log(String(error)),
});
queue.start(async (sessionId) => console.log(`began ${sessionId}`));
process.once('SIGTERM', () => void queue.drain().then(() => console.log('drained')));
console.log('opened');
void queue.add('s');
