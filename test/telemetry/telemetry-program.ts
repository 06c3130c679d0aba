import { context, trace } from '@opentelemetry/api';
import { SessionRuntime } from 'onward';
import { sqliteStore } from 'onward/stores/sqlite';
import { ScenarioStep } from 'onward/testing';
import { startSdk } from '../setup/otlp-sdk.ts';
import { tracedAgent } from './traced-agent.ts';

/** Begins a session and stays until it is killed: `<database> <url of the receiver> <tool>`. */
const [, , path = '', url = '', tool = ''] = process.argv;
const sdk = startSdk(url);
const said = async (text: string): Promise<void> => {
  await sdk.flush();
  console.log(text);
};
const hang = (): Promise<never> => {
  void said('hanging');
  return new Promise(() => {});
};
const agent = tracedAgent([ScenarioStep.toolCall('look'), ScenarioStep.toolCall(tool)], hang);
const runtime = new SessionRuntime({ store: sqliteStore({ path }), agents: [agent] });
await runtime.create({ id: 's', owner: 'ann' });
const request = trace.getTracer('test').startSpan('POST /messages');
const ctx = trace.setSpan(context.active(), request);
await context.with(ctx, () => runtime.send('s', 'go', { owner: 'ann' }));
request.end();
const session = await runtime.wait('s', { owner: 'ann' });
await said(`waiting ${session.pause?.kind ?? session.status}`);
setInterval(() => {}, 1_000);
