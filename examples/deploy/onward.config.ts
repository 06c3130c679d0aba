import { createAgent, defineTool } from 'onward';
import { postgresBus } from 'onward/bus/postgres';
import { redisBus } from 'onward/bus/redis';
import { defineConfig, type OnwardConfig } from 'onward/config';
import { openai } from 'onward/drivers/openai';
import { bullQueue } from 'onward/queues/bullmq';
import { postgresStore } from 'onward/stores/postgres';
import { ownerByToken } from './auth.ts';

const { env } = process;

function required(name: string): string {
  const value = env[name];
  if (value) return value;
  throw new Error(`${name} is not set. Set it in the environment of this process.`);
}

const databaseUrl = required('DATABASE_URL');
// LISTEN needs a connection without a pooler in transaction mode
const directUrl = env['DATABASE_DIRECT_URL'] || databaseUrl;
const redisUrl = env['REDIS_URL'];
const modelUrl = env['MODEL_URL'];

const support = createAgent({
  name: 'support',
  systemPrompt: 'You answer questions about orders. Look them up with the tool.',
  model: openai(env['MODEL'] || 'gpt-5-mini', {
    // a gateway in front of the provider, with a key of its own
    ...(modelUrl && { baseURL: modelUrl, apiKeyVariable: 'MODEL_API_KEY' }),
  }),
  tools: [
    defineTool({
      name: 'find_order',
      description: 'Finds an order by its number.',
      parameters: {
        type: 'object',
        properties: { number: { type: 'string' } },
        required: ['number'],
      },
      idempotent: true,
      execute: ({ number }) => ({ number, status: 'shipped' }),
    }),
  ],
  maxSteps: 10,
});

const config: OnwardConfig = defineConfig({
  name: 'Support',
  agents: [support],
  auth: ownerByToken(required('AUTH_SECRET')),
  store: postgresStore({ connectionString: databaseUrl }),
  queue: (options) => bullQueue({ connection: redisUrl || directUrl, ...options }),
  bus: () =>
    redisUrl ? redisBus({ connection: redisUrl }) : postgresBus({ listenUrl: directUrl }),
});

export default config;
