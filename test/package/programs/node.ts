/** Imports for a Node project without peer packages. Every name has types and runs. */
import { AgentBuilder, defineTool, SessionRuntime, type AgentState } from 'onward';
import { agUiServer } from 'onward/ag-ui';
import { AgentEventEnvelopeAdapter, memoryBroadcaster } from 'onward/broadcasting';
import { pusherBroadcaster } from 'onward/broadcasting/pusher';
import { chatHandler } from 'onward/broadcasting/use-chat';
import { inProcessBus } from 'onward/bus';
import { postgresBus } from 'onward/bus/postgres';
import { redisBus } from 'onward/bus/redis';
import { defineConfig } from 'onward/config';
import { modelCallFailed, type InferenceDriver } from 'onward/drivers';
import { aiSdk } from 'onward/drivers/ai-sdk';
import { mcp } from 'onward/mcp';
import { mcpServer } from 'onward/mcp/server';
import { agentServer } from 'onward/server';
import { serve } from 'onward/server/node';
import type { SessionStore } from 'onward/stores';
import { memoryStore } from 'onward/stores/memory';
import { postgresStore } from 'onward/stores/postgres';
import { sqliteStore } from 'onward/stores/sqlite';
import { DeterministicDriver, ScenarioStep } from 'onward/testing';
import { newUiState, reduceEnvelope } from 'onward/ui';

const add = defineTool({
  name: 'add',
  description: 'Adds two numbers.',
  parameters: {
    type: 'object',
    properties: { a: { type: 'number' }, b: { type: 'number' } },
    required: ['a', 'b'],
  },
  execute: ({ a, b }) => a + b,
});
const driver: InferenceDriver = DeterministicDriver.fromSteps(
  ScenarioStep.toolCall('add', { a: 1, b: 2 }),
  ScenarioStep.final('3'),
);
const agent = AgentBuilder.base().withName('adder').withModel(driver).withTools(add).build();

const broadcaster = memoryBroadcaster();
const adapter = new AgentEventEnvelopeAdapter({ broadcaster, sessionId: 's', executionId: 'e' });
let screen = newUiState();
broadcaster.subscribe('agent.s', (envelope) => {
  screen = reduceEnvelope(screen, envelope);
});
const state: AgentState = await agent.run('1 + 2?', {
  executionId: 'e',
  wiretap: adapter.wiretap(),
});
await adapter.flush();
console.log(state.status, state.output, screen.messages.length);

const config = defineConfig({ name: 'Sums', agents: [agent] });
const store: SessionStore = memoryStore();
const runtime = new SessionRuntime({ store, agents: [agent] });
const server = agentServer({
  runtime,
  owner: () => 'ann',
  mcp: mcpServer({ runtime }),
  agUi: agUiServer({ runtime }),
});
const running = await serve({ fetch: server, port: 0 });
const health = await fetch(`${running.url}/api/health`);
console.log(config.name, health.status);
await running.close();
await server.close();

console.log(
  [
    aiSdk,
    modelCallFailed,
    pusherBroadcaster,
    chatHandler,
    inProcessBus,
    mcp,
    postgresBus,
    redisBus,
    postgresStore,
    sqliteStore,
  ]
    .map((made) => typeof made)
    .join(),
);
