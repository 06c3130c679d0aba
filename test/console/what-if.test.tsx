// @vitest-environment happy-dom
import {
  cleanup,
  configure,
  fireEvent,
  render,
  screen,
  waitFor,
  within,
} from '@testing-library/react';
import { userEvent as events } from '@testing-library/user-event';
import { AgentBuilder, SessionRuntime } from 'onward';
import type { InferenceDriver } from 'onward/drivers';
import { replaySessions } from 'onward/replay';
import { memoryStore } from 'onward/stores/memory';
import { mockTool } from 'onward/testing';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Api, ReplaysQuery } from '../../src/console/api-client.ts';
import { ApiProblem } from '../../src/console/api-problem.ts';
import { parseRoute, useHash, type PageRoute } from '../../src/console/route.ts';
import { WhatIfPage } from '../../src/console/what-if/what-if-page.tsx';
import { replaySummary } from '../../src/server/replay-view.ts';
import { seriousInDocument } from '../setup/axe-dom.ts';

configure({ asyncUtilTimeout: 10_000 });
vi.setConfig({ testTimeout: 30_000 });
const userEvent = events.setup({ delay: null });
const ann = { owner: 'ann' };

/** Calls `look` as often as the message says, then answers. */
const counting: InferenceDriver = {
  name: 'counting',
  async infer(request) {
    const messages = [...request.messages];
    const wanted = Number(String(messages[0]?.content).split(' ')[0]);
    const done = messages.filter(({ role }) => role === 'tool').length;
    const usage = { input: 90, output: 10, total: 100, cachedInput: 0, reasoning: 0 };
    if (done >= wanted)
      return { content: 'done', toolCalls: [], finishReason: 'stop', usage, cost: 0.01 };
    const toolCalls = [{ id: `c${done}`, name: 'look', args: { done } }];
    return { content: '', toolCalls, finishReason: 'tool_calls', usage, cost: 0.01 };
  },
};

let runtime: SessionRuntime;
const asked: ReplaysQuery[] = [];
let isDown = false;
/** The routes of the server, without HTTP. */
const api = {
  async replays(query: ReplaysQuery) {
    asked.push(query);
    if (isDown) throw new ApiProblem(0, 'unreachable', 'The server does not respond.');
    const { agent, limit, cursor, errorPolicy: _, ...limits } = query;
    const page = await replaySessions(runtime, {
      ...ann,
      ...(Object.keys(limits).length > 0 && { limits }),
      ...(agent !== undefined && { agent }),
      ...(limit !== undefined && { limit }),
      ...(cursor !== undefined && { cursor }),
    });
    return { replays: page.replays.map(replaySummary), cursor: page.cursor };
  },
} as unknown as Api; // the page uses nothing else

beforeAll(async () => {
  const agent = AgentBuilder.base()
    .withName('counter')
    .withDriver(counting)
    .withMaxSteps(6)
    .withTools(mockTool('look', 'found'))
    .build();
  runtime = new SessionRuntime({ store: memoryStore(), agents: [agent] });
  for (const message of ['1 page', '4 pages', '9 pages']) {
    const { id } = await runtime.create(ann);
    await runtime.send(id, message, ann);
    await runtime.wait(id, ann);
  }
});
afterAll(() => runtime.close());
beforeEach(() => {
  asked.length = 0;
  isDown = false;
  location.hash = '#/what-if';
});
afterEach(cleanup);

function Page() {
  return <WhatIfPage api={api} info={null} route={parseRoute(useHash()) as PageRoute} />;
}

const row = async (title: string): Promise<HTMLElement> =>
  (await screen.findByRole('link', { name: title })).closest('tr')!;
const field = (name: string): HTMLElement => screen.getByRole('textbox', { name });
const sums = (): string => screen.getByRole('status').textContent;

describe('what if', () => {
  it('shows all runs as recorded, with the recorded limits', async () => {
    render(<Page />);
    expect((await row('9 pages')).textContent).toContain('Stopped · step limitSame');
    expect(field('Step limit').getAttribute('placeholder')).toBe('6');
    expect(sums()).toContain('stay the same3');
    expect(screen.getAllByRole('img').map((strip) => strip.getAttribute('aria-label'))).toEqual([
      '6 recorded steps',
      '5 recorded steps',
      '2 recorded steps',
    ]);
    expect(await seriousInDocument()).toEqual([]);
  });

  it('judges the runs again with a typed limit, which is in the address', async () => {
    render(<Page />);
    await row('9 pages');
    await userEvent.type(field('Step limit'), '3');
    await waitFor(() => expect(location.hash).toBe('#/what-if?maxSteps=3'));
    const cut = await screen.findByText('answer lost');
    expect(cut.closest('tr')?.textContent).toContain('4 pages');
    expect((await row('4 pages')).textContent).toContain(
      'Stops after step 3answer loststep limit$0.02',
    );
    expect((await row('9 pages')).textContent).toContain('Stops after step 3step limit$0.03');
    expect((await row('1 page')).textContent).toContain('Same');
    expect(sums()).toMatch(/would stop earlier2\$0\.05.* saved, 38% of cost/);
    expect(sums()).toContain('finished runs cut short 1');
    expect(sums()).toContain('Their answers would be lost');
    const strip = within(await row('4 pages')).getByRole('img');
    expect(strip.getAttribute('aria-label')).toBe('5 recorded steps, would stop after 3');
    expect(screen.getByText('recorded with 6')).toBeTruthy();
    expect(await seriousInDocument()).toEqual([]);
  });

  it('says that it does not know what follows the recording', async () => {
    location.hash = '#/what-if?maxSteps=20';
    render(<Page />);
    await waitFor(async () =>
      expect((await row('9 pages')).textContent).toContain('Keeps goingnot recorded past step 6–'),
    );
    await userEvent.click(screen.getByRole('button', { name: 'Keep going 1' }));
    expect(screen.queryByRole('link', { name: '4 pages' })).toBeNull();
    expect(screen.getByRole('link', { name: '9 pages' }).getAttribute('href')).toMatch(
      /^#\/s\/[^/]+\/trace\/6\?execution=/,
    );
  });

  it('moves a slider, copies the limits as code, and resets them', async () => {
    const write = vi.fn(async (_text: string) => {});
    Object.defineProperty(navigator, 'clipboard', {
      value: { writeText: write },
      configurable: true,
    });
    render(<Page />);
    await row('9 pages');
    expect(screen.getByRole('button', { name: 'Copy as code' })).toHaveProperty('disabled', true);
    fireEvent.change(screen.getByRole('slider', { name: 'Step limit, slider' }), {
      target: { value: '12' },
    });
    await waitFor(() => expect(location.hash).toBe('#/what-if?maxSteps=4'));
    await userEvent.selectOptions(
      screen.getByRole('combobox', { name: 'On an error' }),
      'production',
    );
    await userEvent.click(screen.getByRole('button', { name: 'Copy as code' }));
    expect(write.mock.calls[0]?.[0]).toBe(
      'createAgent({\n  maxSteps: 4,\n  errorPolicy: ErrorPolicy.production(),\n  // …\n});\n',
    );
    await userEvent.click(screen.getByRole('button', { name: 'Reset' }));
    await waitFor(() => expect(location.hash).toBe('#/what-if'));
    expect(field('Step limit')).toHaveProperty('value', '');
  });

  it('says what failed, and reads again', async () => {
    isDown = true;
    render(<Page />);
    await screen.findByText('The server does not respond.');
    isDown = false;
    await userEvent.click(screen.getByRole('button', { name: 'Try again' }));
    await row('9 pages');
  });
});
