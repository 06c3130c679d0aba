import { appendFileSync } from 'node:fs';
import { AgentBuilder, defineTool, ErrorPolicy, SessionRuntime } from 'onward';
import type { SessionStore } from 'onward/stores';
import { DeterministicDriver, ScenarioStep } from 'onward/testing';

/** A process that dies in the call named by `dieAt`, after its effect and before its result is stored. */
export async function work(
  store: SessionStore,
  { effects, dieAt }: { readonly effects: string; readonly dieAt: string },
): Promise<void> {
  const note = defineTool({
    name: 'note',
    description: 'Writes a line.',
    execute: (_args, { callId }) => {
      appendFileSync(effects, `${callId}\n`);
      if (callId === dieAt) process.kill(process.pid, 'SIGKILL');
      return 'noted';
    },
  });
  const call = (id: string): ScenarioStep => ScenarioStep.toolCalls([{ name: 'note', id }]);
  const script = [call('a'), call('b'), call('c'), ScenarioStep.final('All noted.')];
  const found = await store.find('s');
  const agent = AgentBuilder.base()
    .withName('clerk')
    // a process that takes over asks for the answer after the interrupted step
    .withModel(DeterministicDriver.fromSteps(...script.slice(found ? found.stepCount + 1 : 0)))
    .withTools(note)
    .withErrorPolicy(ErrorPolicy.retryToolErrors(3).withHandling('unknown', 'ignore'))
    .build();
  const lease = { leaseMs: 200, heartbeatMs: 50, signalMs: 50 };
  const runtime = new SessionRuntime({ store, agents: [agent], lease });
  const owner = 'ann';
  if (found) {
    const finished = new Promise<void>((resolve) => {
      runtime.wiretap(({ event }) => event.type === 'AgentFinished' && resolve());
    });
    while ((await runtime.recover()) === 0) await new Promise((wait) => setTimeout(wait, 50));
    await finished;
  } else {
    await runtime.create({ owner, id: 's' });
    await runtime.send('s', 'Note three things.', { owner, wait: true });
  }
  const { items } = await runtime.messages('s', { owner });
  for (const { role, content } of items) console.log(`${role}: ${JSON.stringify(content)}`);
  await runtime.close();
  await store.close();
}
