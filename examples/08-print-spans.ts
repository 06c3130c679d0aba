/** Spans of a run, printed. For a real backend, replace the exporter: see docs/observability.md. */
import {
  NodeTracerProvider,
  SimpleSpanProcessor,
  type ReadableSpan,
} from '@opentelemetry/sdk-trace-node';
import { createAgent, defineTool, ErrorPolicy } from 'onward';
import { telemetry } from 'onward/telemetry';
import { DeterministicDriver, ScenarioStep } from 'onward/testing';
import * as z from 'zod';

// before the first run
const spans: ReadableSpan[] = [];
const provider = new NodeTracerProvider({
  spanProcessors: [
    new SimpleSpanProcessor({
      export: (ended, done) => {
        spans.push(...ended);
        done({ code: 0 });
      },
      shutdown: () => Promise.resolve(),
    }),
  ],
});
provider.register();

const stock = defineTool({
  name: 'stock',
  description: 'Counts what is in stock.',
  parameters: z.object({ item: z.string() }),
  execute: ({ item }) => `12 of ${item}`,
});
const clerk = createAgent({
  name: 'clerk',
  model: DeterministicDriver.fromSteps(
    ScenarioStep.toolCall('stock', { item: 'lamp' }),
    ScenarioStep.final('There are 12 lamps.'),
  ),
  tools: [stock],
});
const shop = createAgent({
  name: 'shop',
  model: DeterministicDriver.fromSteps(
    ScenarioStep.error('overloaded'),
    ScenarioStep.toolCall('ask_clerk', { input: 'Are there lamps?' }),
    ScenarioStep.final('Yes, 12.'),
  ),
  tools: [clerk.asTool({ name: 'ask_clerk', description: 'Asks the clerk.' })],
  errorPolicy: ErrorPolicy.production(),
  capabilities: [telemetry()],
});

await shop.run('Do you have lamps?');
await provider.shutdown();

/** Prints the spans behind a parent, indented. */
function print(parent: string | undefined, indent: string): void {
  for (const span of spans.filter((one) => one.parentSpanContext?.spanId === parent)) {
    const { attributes, events } = span;
    const shown = ['error.type', 'gen_ai.usage.input_tokens', 'onward.stop_reason']
      .filter((name) => attributes[name] !== undefined)
      .map((name) => `${name}=${String(attributes[name])}`);
    console.log([`${indent}${span.name}`, ...shown].join('  '));
    for (const { attributes: step = {} } of events) {
      const next = step['onward.continues'] === true ? 'continues' : 'stops';
      console.log(`${indent}  * step ${String(step['onward.step'])} ${next}`);
    }
    print(span.spanContext().spanId, `${indent}  `);
  }
}
spans.sort((a, b) => a.startTime[0] - b.startTime[0] || a.startTime[1] - b.startTime[1]);
print(undefined, '');

/* prints
invoke_agent shop  onward.stop_reason=completed
  * step 1 continues
  * step 2 continues
  * step 3 stops
  chat deterministic  error.type=scripted
  chat deterministic  gen_ai.usage.input_tokens=10
  execute_tool ask_clerk
    invoke_agent clerk  onward.stop_reason=completed
      * step 1 continues
      * step 2 stops
      chat deterministic  gen_ai.usage.input_tokens=10
      execute_tool stock
      chat deterministic  gen_ai.usage.input_tokens=10
  chat deterministic  gen_ai.usage.input_tokens=10
*/
