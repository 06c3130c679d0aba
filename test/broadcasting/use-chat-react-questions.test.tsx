import { open, stored, world, type Page, type World } from './use-chat-page.ts'; // first, because it creates the DOM for React
import { act, waitFor } from '@testing-library/react';
import { defineTool } from 'onward';
import type { OnwardInput } from 'onward/broadcasting/use-chat';
import { ScenarioStep } from 'onward/testing';
import { describe, expect, it } from 'vitest';
import { AgentBuilder } from 'onward';
import { followingDriver } from '../setup/sessions.ts';

const { toolCall, final } = ScenarioStep;

const form = {
  type: 'object',
  properties: { guests: { type: 'integer', minimum: 1 } },
  required: ['guests'],
};
const book = (runs: string[]) =>
  defineTool({
    name: 'book',
    description: 'Books a table.',
    execute(_args, { input, requestInput }) {
      runs.push(input ? 'with' : 'without');
      const { table, terms } = input?.answers ?? {};
      if (!table || !terms)
        return requestInput({
          table: { message: 'How many?', schema: form },
          terms: { message: 'Read the terms.', url: 'https://example.com/terms' },
        });
      return table.action === 'accept' ? `for ${String(table.content?.['guests'])}` : 'no table';
    },
  });

/** The questions in the last message, as a page shows them. */
const questionsIn = (page: Page): OnwardInput[] =>
  page.answer().parts.flatMap((part) => (part.type === 'data-onward-input' ? [part.data] : []));
const waitingIn = (page: Page): string[] =>
  questionsIn(page).flatMap(({ status, input_id }) => (status === 'waiting' ? [input_id] : []));

const answer = (here: World, body: unknown): Promise<Response> =>
  fetch(`${here.api}/chat-1/inputs`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
const follow = (page: Page): Promise<void> => act(() => page.chat().resumeStream());

describe('a question of a tool in useChat', () => {
  it('is a part with its form, is answered, and closes', async () => {
    const runs: string[] = [];
    const here = await world([[toolCall('book', {}, 'A table.'), final('Booked.')]], [book(runs)]);
    const page = open(here);
    await page.say('book a table');
    await page.ready();
    expect(questionsIn(page)).toMatchObject([
      {
        status: 'waiting',
        input_id: 't0s0c0/table',
        tool: 'book',
        message: 'How many?',
        schema: form,
      },
      { status: 'waiting', input_id: 't0s0c0/terms', url: 'https://example.com/terms' },
    ]);
    const [first] = questionsIn(page);
    const refused = await answer(here, { inputId: first!.input_id, action: 'accept', content: {} });
    expect([refused.status, await refused.json()]).toEqual([
      400,
      {
        error: {
          code: 'invalid_input',
          message: 'The answer does not fit the question, which still waits.',
        },
      },
    ]);
    const taken = await answer(here, {
      inputId: first!.input_id,
      executionId: first!.execution_id,
      action: 'accept',
      content: { guests: 4 },
    });
    expect(taken.status).toBe(204);
    await follow(page);
    await page.ready();
    await waitFor(() => expect(waitingIn(page)).toEqual(['t0s0c0/terms']));
    expect((await answer(here, { inputId: 't0s0c0/terms', action: 'accept' })).status).toBe(204);
    await follow(page);
    await page.ready();
    await waitFor(() => expect(page.texts().at(-1)).toBe('assistant: A table. | Booked.'));
    expect(questionsIn(page).map(({ status, schema }) => [status, schema])).toEqual([
      ['closed', undefined],
      ['closed', undefined],
    ]);
    expect(runs).toEqual(['without', 'with']);
    const again = await answer(here, { inputId: 't0s0c0/terms', action: 'accept' });
    expect(again.status).toBe(409);
  });

  it('of a nested agent is shown too, also to a page that opens later', async () => {
    const inner = AgentBuilder.base()
      .withName('inner')
      .withDriver(followingDriver([toolCall('book'), final('inner done')]))
      .withTools(book([]))
      .build();
    const here = await world(
      [[toolCall('help', { input: 'go' }), final('Done.')]],
      [inner.asTool({ name: 'help', description: 'Helps.' })],
    );
    const page = open(here);
    await page.say('book a table');
    await page.ready();
    const asked = questionsIn(page);
    expect(asked.map(({ message }) => message)).toEqual(['How many?', 'Read the terms.']);
    const kept = await stored(here);
    const parts = kept.at(-1)!.parts.filter(({ type }) => type === 'data-onward-input');
    expect(parts.map((part) => 'data' in part && part.data)).toEqual(asked);
  });

  it('closes when the run is stopped', async () => {
    const here = await world([[toolCall('book'), final('Booked.')]], [book([])]);
    const page = open(here);
    await page.say('book a table');
    await page.ready();
    await fetch(`${here.api}/chat-1/stop`, { method: 'POST' });
    await follow(page);
    await waitFor(() => expect(waitingIn(page)).toEqual([]));
    expect(questionsIn(page)).toHaveLength(2);
  });

  it.each([
    ['nothing', {}],
    ['no action', { inputId: 't0s0c0/table' }],
    ['an unknown action', { inputId: 't0s0c0/table', action: 'yes' }],
    ['an execution that is no text', { inputId: 't0s0c0/table', action: 'cancel', executionId: 7 }],
  ])('refuses a body with %s', async (_what, body) => {
    const here = await world([[toolCall('book'), final('Booked.')]], [book([])]);
    const page = open(here);
    await page.say('book a table');
    await page.ready();
    expect((await answer(here, body)).status).toBe(400);
    const foreign = await fetch(`${here.api}/chat-2/inputs`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ inputId: 't0s0c0/table', action: 'cancel' }),
    });
    expect(foreign.status).toBe(404);
    const form = await fetch(`${here.api}/chat-1/inputs`, { method: 'POST', body: 'x' });
    expect(form.status).toBe(415);
  });
});
