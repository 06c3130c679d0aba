import {
  AgentBuilder,
  defineTool,
  ErrorPolicy,
  type Agent,
  type Hook,
  type InferenceDriver,
} from 'onward';
import { DeterministicDriver, ScenarioStep } from 'onward/testing';
import type { StandardSchema } from '../../src/tools/schema.ts';

const { toolCall, toolCalls, final } = ScenarioStep;

export const never: Promise<never> = new Promise(() => {});

type Then = 'hangs' | 'continues' | 'throws';

/** Aborts the run at one await point, and decides what the code there does next. */
export class Trap {
  readonly controller: AbortController = new AbortController();
  readonly reached: string[] = [];
  /** Await points that were reached after the abort. */
  readonly late: string[] = [];
  readonly #at: string;
  readonly #then: Then;

  constructor(at: string, then: Then) {
    this.#at = at;
    this.#then = then;
  }

  async reach(place: string): Promise<void> {
    this.reached.push(place);
    if (this.controller.signal.aborted) this.late.push(place);
    if (place !== this.#at) return;
    this.controller.abort('enough');
    if (this.#then === 'hangs') await never;
    if (this.#then === 'throws') throw new Error('aborted, says the code in there');
    // long enough for everything that is queued behind it
    for (let i = 0; i < 20; i++) await Promise.resolve();
  }
}

const slowSchema = (wait: () => Promise<void>): StandardSchema => ({
  '~standard': {
    vendor: 'own',
    validate: async (value) => {
      await wait();
      return { value };
    },
  },
});

const guardedDriver = (trap: Trap, name: string, driver: DeterministicDriver): InferenceDriver => {
  let calls = 0;
  return {
    name,
    async infer(request, options) {
      const call = ++calls;
      await trap.reach(`${name} ${call}`);
      return driver.infer(request, options);
    },
    async *stream(request, options) {
      const call = ++calls;
      let chunks = 0;
      await trap.reach(`${name} ${call}`);
      for await (const chunk of driver.stream(request, options)) {
        yield chunk;
        if (chunk.type !== 'done') await trap.reach(`${name} ${call} chunk ${++chunks}`);
      }
    },
  };
};

/** An agent with code at every await point of a run. */
export function guardedAgent(trap: Trap): Agent {
  const simple = defineTool({
    name: 'simple',
    description: 'Simple.',
    execute: async () => {
      await trap.reach('tool simple');
      return 'ok';
    },
  });
  const checked = defineTool({
    name: 'checked',
    description: 'Checks its arguments slowly.',
    parameters: slowSchema(() => trap.reach('validation')),
    jsonSchema: { type: 'object' },
    execute: async () => {
      await trap.reach('tool checked');
      return 'ok';
    },
  });
  const asked = defineTool({
    name: 'asked',
    description: 'Asks itself whether a person has to be asked.',
    needsApproval: async () => {
      await trap.reach('needsApproval');
      return false;
    },
    execute: async () => {
      await trap.reach('tool asked');
      return 'ok';
    },
  });
  const inner = defineTool({
    name: 'inner',
    description: 'A tool of the nested agent.',
    execute: async () => {
      await trap.reach('child tool');
      return 'ok';
    },
  });
  const child = AgentBuilder.base()
    .withName('helper')
    .withDriver(
      guardedDriver(
        trap,
        'child model',
        DeterministicDriver.fromSteps(toolCall('inner'), final('helped')),
      ),
    )
    .withTools(inner)
    .build();
  const around =
    (place: string) =>
    async <I, O>(input: I, next: (input: I) => Promise<O>): Promise<O> => {
      await trap.reach(`before ${place}`);
      const output = await next(input);
      await trap.reach(`after ${place}`);
      return output;
    };
  const hook: Hook = {
    name: 'watch',
    aroundExecution: around('execution'),
    aroundStep: around('step'),
    aroundModelCall: around('model call'),
    aroundToolCall: around('tool call'),
  };
  return AgentBuilder.base()
    .withName('support')
    .withDriver(
      guardedDriver(
        trap,
        'model',
        DeterministicDriver.fromSteps(
          toolCalls(
            [
              { name: 'simple' },
              { name: 'checked', args: { n: 1 } },
              { name: 'asked' },
              { name: 'help', args: { input: 'please' } },
            ],
            'Looking.',
          ),
          ScenarioStep.error({ type: 'timeout', message: 'gateway' }),
          final('{"ok":true}'),
        ),
      ),
    )
    .withTools(simple, checked, asked, child.asTool({ name: 'help', description: 'Helps.' }))
    .withErrorPolicy(ErrorPolicy.retryToolErrors(3).withBackoff({ initialMs: 1, maxMs: 1 }))
    .withResponseFormat(
      Object.assign(
        slowSchema(() => trap.reach('response format')),
        { toJsonSchema: () => ({ type: 'object' }) },
      ),
    )
    .withHooks(hook)
    .build();
}
