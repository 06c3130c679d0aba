import {
  AgentBuilder,
  AgentState,
  type AgentStatus,
  defineTool,
  ErrorPolicy,
  Message,
  type ModelInput,
  type Tool,
} from 'onward';
import * as z from 'zod';
import type { Said } from './wire.ts';

/** A run of several requests, whose last one contains all that was said. */
export interface Conversation {
  readonly name: string;
  readonly script: readonly Said[];
  /** Status at the end. Default `completed`. */
  readonly ends?: AgentStatus;
  run(model: ModelInput): Promise<Pick<AgentState, 'status'>>;
}

const weather: Tool = defineTool({
  name: 'weather',
  description: 'Returns the weather of a city.',
  parameters: z.object({ city: z.string(), days: z.number().optional() }),
  execute: ({ city }) => ({ city, degrees: 18, sky: 'clear "blue"' }),
});
const note: Tool = defineTool({
  name: 'note',
  description: 'Returns the note.',
  parameters: z.object({}),
  execute: () => 'Pack a coat ☂',
});
const broken: Tool = defineTool({
  name: 'broken',
  description: 'Always fails.',
  parameters: z.object({}),
  execute: () => {
    throw new Error('the station is closed');
  },
});
const pay: Tool = defineTool({
  name: 'pay',
  description: 'Pays an amount.',
  parameters: z.object({ amount: z.number() }),
  needsApproval: true,
  execute: () => 'paid',
});

const builder = (model: ModelInput, ...tools: readonly Tool[]) =>
  AgentBuilder.base()
    .withModel(model)
    .withSystemPrompt('Answer briefly.')
    .withErrorPolicy(ErrorPolicy.retryToolErrors())
    .withTools(...tools);

const twoSteps: readonly Said[] = [
  { text: 'Let me look.', calls: [{ name: 'weather', args: { city: 'Zürich', days: 2 } }] },
  { calls: [{ name: 'note' }] },
  { text: 'It is 18° in Zürich.' },
];

const trip = z.object({
  city: z.string().describe('Name of the city.'),
  stops: z.array(z.object({ name: z.string(), nights: z.number().nullable() })),
});
const looseTrip = z.object({ city: z.string(), nights: z.number().optional() });

export const conversations: readonly Conversation[] = [
  {
    name: 'text',
    script: [{ text: 'Hello.' }, { text: 'Goodbye.' }],
    async run(model) {
      const agent = builder(model).build();
      const first = await agent.run('Say "hi" \\ 👋\nplease.');
      const second = await agent.run(first.withUserMessage('Now leave.'));
      return agent.run(second.withUserMessage('Are you still there?'));
    },
  },
  {
    name: 'tool-calls',
    script: twoSteps,
    async run(model) {
      const agent = builder(model, weather, note).build();
      const first = await agent.run('What is the weather in Zürich?');
      return agent.run(first.withUserMessage('Thank you.'));
    },
  },
  {
    name: 'tool-calls-streamed',
    script: twoSteps,
    run: (model) =>
      builder(model, weather, note)
        .build()
        .run('What is the weather in Zürich?', { wiretap: () => {} }),
  },
  {
    name: 'parallel-failed-denied',
    script: [
      {
        calls: [
          { name: 'weather', args: { city: 'Rome' } },
          { name: 'broken' },
          { name: 'missing', args: { a: [1, null] } },
          { name: 'weather', args: { city: 5 } },
          { name: 'pay', args: { amount: 3 } },
        ],
      },
      { text: 'One of five.' },
    ],
    async run(model) {
      const agent = builder(model, weather, broken, pay).build();
      const paused = await agent.run('Do it all.');
      return agent.resume(paused, {
        approvals: Object.fromEntries(
          paused.pendingApprovals.map(({ callId }) => [callId, { deny: 'too expensive' }]),
        ),
      });
    },
  },
  {
    name: 'images-and-files',
    script: [{ text: 'A picture and three files.' }],
    async run(model) {
      const agent = builder(model).build();
      const question = Message.user([
        { type: 'text', text: 'What are these?' },
        { type: 'image', data: 'iVBORw0KGgo=' },
        { type: 'image', url: 'https://example.com/cat.jpg' },
        { type: 'file', data: 'JVBERi0xLjQK', filename: 'terms.pdf' },
        { type: 'file', url: 'https://example.com/price.pdf' },
      ]);
      const first = await agent.run(AgentState.empty().withMessages(question));
      return agent.run(first.withUserMessage('And the second one?'));
    },
  },
  {
    name: 'reasoning',
    script: [
      {
        thought: 'Two cities.',
        text: 'Both.',
        calls: [
          { name: 'weather', args: { city: 'Rome' } },
          { name: 'weather', args: { city: 'Bonn' } },
        ],
      },
      { thought: 'And a note.', calls: [{ name: 'note' }] },
      { thought: 'Done.', text: 'Both are warm.' },
    ],
    async run(model) {
      const agent = builder(model, weather, note).build();
      const first = await agent.run('Rome or Bonn?');
      // the state of the provider survives the store
      const stored = AgentState.from(JSON.parse(JSON.stringify(first)));
      return agent.run(stored.withUserMessage('Why?'));
    },
  },
  {
    name: 'response-format-strict',
    script: [
      { calls: [{ name: 'note' }] },
      { text: '{"city":"Rome","stops":[{"name":"Bonn","nights":null}]}' },
    ],
    run: (model) => builder(model, note).withResponseFormat(trip).build().run('Plan a trip.'),
  },
  {
    name: 'response-format-loose',
    script: [{ text: '{"city":5}' }, { text: '{"city":"Rome"}' }],
    run: (model) => builder(model).withResponseFormat(looseTrip).build().run('Plan a trip.'),
  },
  {
    name: 'soft-landing',
    ends: 'stopped',
    script: [{ calls: [{ name: 'note' }] }, { text: 'A coat.' }],
    run: (model) => builder(model, note).withMaxSteps(2).withSoftLanding().build().run('Pack.'),
  },
];
