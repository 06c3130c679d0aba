import { createAgent, defineTool, SessionRuntime } from 'onward';
import { postgresStore } from 'onward/stores/postgres';
import { sqliteStore } from 'onward/stores/sqlite';
import { DeterministicDriver, ScenarioStep } from 'onward/testing';

/** A process that asks the user in a session, or answers there, and then lives until it is killed. */
const [kind = '', place = '', schema = '', role = ''] = process.argv.slice(2);
const store =
  kind === 'sqlite'
    ? sqliteStore({ path: place })
    : postgresStore({ connectionString: place, schema });
const book = defineTool({
  name: 'book',
  description: 'Books a table.',
  execute(_args, { input, requestInput }) {
    console.log(`runs ${input === null ? 'without' : 'with'} input`);
    const table = input?.answers['table'];
    if (!table)
      return requestInput(
        {
          table: {
            message: 'How many?',
            schema: {
              type: 'object',
              properties: { guests: { type: 'integer', minimum: 1 } },
              required: ['guests'],
            },
          },
        },
        { state: 'Aurora' },
      );
    return table.action === 'accept'
      ? `booked ${JSON.stringify(table.content?.['guests'])} at ${input?.state}`
      : 'not booked';
  },
});
const steps = [
  ScenarioStep.toolCalls([{ name: 'book', id: 'call_1' }]),
  ScenarioStep.final('Your table is booked.'),
];
const inner = createAgent({
  name: 'concierge',
  model: DeterministicDriver.fromSteps(...(role === 'ask' ? steps : steps.slice(1))),
  tools: [book],
});
const outer = [
  ScenarioStep.toolCalls([{ name: 'concierge', args: { input: 'Book.' }, id: 'call_0' }]),
  ScenarioStep.final('All booked.'),
];
const agent = createAgent({
  name: 'support',
  model: DeterministicDriver.fromSteps(...(role === 'ask' ? outer : outer.slice(1))),
  tools: [inner.asTool({ name: 'concierge', description: 'Books.' })],
});
const runtime = new SessionRuntime({ store, agents: [agent] });
const owner = { owner: 'ann' };
if (role === 'ask') {
  await runtime.create({ ...owner, id: 's' });
  const asked = await runtime.send('s', 'A table, please.', { ...owner, wait: true });
  console.log(`asked ${asked.pendingInputs.map(({ inputId }) => inputId).join()}`);
} else if (role === 'prune') {
  const { rows } = await runtime.prune({ olderThan: new Date(Date.now() + 60_000) });
  const { pendingInputs } = await runtime.get('s', owner);
  console.log(`pruned ${rows}, asks ${pendingInputs.map(({ message }) => message).join()}`);
} else {
  const { pendingInputs } = await runtime.get('s', owner);
  const [question] = pendingInputs;
  const answer = { action: 'accept', content: { guests: 4 } } as const;
  const options = { ...owner, answer, by: 'bo', wait: true };
  const wrong = { ...options, answer: { action: 'accept', content: { guests: 0 } } } as const;
  await runtime
    .answer('s', question?.inputId ?? '', wrong)
    .catch((error: { code: string }) => console.log(`refused ${error.code}`));
  const done = await runtime.answer('s', question?.inputId ?? '', options);
  const nested = await runtime.events('s', owner);
  const booked = nested.events.flatMap(({ event }) =>
    event.type === 'ToolCallCompleted' && event.tool === 'book' ? [event.result] : [],
  );
  console.log(
    `done ${done.status} ${String(done.output)} ${booked.map((one) => JSON.stringify(one)).join()}`,
  );
}
// lives on, as a server does
setInterval(() => {}, 1_000);
