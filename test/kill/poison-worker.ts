import { openStore } from './open-store.ts';
import { poisonRuntime, type PoisonJob } from './poison-agent.ts';

/** A process that works on all sessions and dies from some of them. */
const job = JSON.parse(process.argv[2] ?? '') as PoisonJob;
const runtime = poisonRuntime(openStore(job.place), { log: job.log });
process.on('disconnect', () => process.exit(1));
runtime.start();
