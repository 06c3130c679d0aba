import {
  AgentBuilder,
  defineTool,
  SessionRuntime,
  type Agent,
  type InferenceDriver,
  type SessionRuntimeOptions,
} from 'onward';
import { appendFileSync } from 'node:fs';
import { sleep } from './random.ts';
import type { StorePlace } from './open-store.ts';

/** The job of a worker process. */
export interface PoisonJob {
  readonly place: StorePlace;
  /** A file with one line for each kill. */
  readonly log: string;
}

export const OWNER = 'ann';
const lease = { leaseMs: 600, heartbeatMs: 150, signalMs: 50 };

/** Steps of a healthy session, each with a short call. */
const STEPS = 3;

/** Where the process dies: in the model call, in a tool, or in a tool after a finished step. */
export type Poison = 'in the model' | 'in a tool' | 'after a step';

function driver(die: () => void): InferenceDriver {
  return {
    name: 'poison',
    async infer({ messages }) {
      const all = [...messages];
      const last = all.findLastIndex((message) => message.isUser());
      const asked = all[last]?.content;
      const steps = all.slice(last).filter((message) => message.isAssistant()).length;
      if (asked === 'in the model') die();
      const isPoison = asked === 'in a tool' || (asked === 'after a step' && steps > 0);
      const name = isPoison ? 'bomb' : 'slow';
      const isDone = steps >= STEPS;
      return {
        content: isDone ? 'done' : '',
        toolCalls: isDone ? [] : [{ id: `c${steps}`, name, args: {} }],
        finishReason: isDone ? 'stop' : 'tool_calls',
        usage: null,
      };
    },
  };
}

function poisonAgent(die: () => void): Agent {
  const make = (name: string, execute: () => unknown) =>
    defineTool({ name, description: name, idempotent: true, execute });
  return AgentBuilder.base()
    .withName('poisonable')
    .withDriver(driver(die))
    .withTools(
      make('bomb', async () => {
        await sleep(20);
        die();
        return new Promise(() => {});
      }),
      make('slow', async () => {
        await sleep(60);
        return 'ok';
      }),
    )
    .build();
}

export const poisonRuntime = (
  store: SessionRuntimeOptions['store'],
  options: Partial<SessionRuntimeOptions> & { readonly log: string },
): SessionRuntime => {
  const die = (): void => {
    appendFileSync(options.log, 'killed\n');
    process.kill(process.pid, 'SIGKILL');
  };
  return new SessionRuntime({ store, agents: [poisonAgent(die)], lease, ...options });
};
