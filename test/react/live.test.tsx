// oxlint-disable-next-line import/no-unassigned-import -- it creates the DOM for React
import '../broadcasting/use-chat-dom.ts';
import {
  act,
  cleanup,
  configure,
  fireEvent,
  render,
  screen,
  waitFor,
  within,
} from '@testing-library/react';
import type { SessionRuntime } from 'onward';
import { broadcastSessions, readRefill, refEndpoint, refillEndpoint } from 'onward/broadcasting';
import { ownedSessions, pusherAuth, pusherBroadcaster } from 'onward/broadcasting/pusher';
import { mockTool, ScenarioStep, type MockTool } from 'onward/testing';
import { toUiMessages } from 'onward/ui';
import type { ReactElement } from 'react';
import { afterEach, describe, expect, it, onTestFinished } from 'vitest';
import { AgentChat, useAgentSession, type AgentSession } from '../../src/react/index.ts';
import { echoSource } from '../../src/ui/sources/echo-source.ts';
import type { EnvelopeSource } from '../../src/ui/sources/envelope-source.ts';
import { refReader } from '../../src/ui/sources/http-reads.ts';
import { pusherSource } from '../../src/ui/sources/pusher-source.ts';
import { sseSource } from '../../src/ui/sources/sse-source.ts';
import { echoClient, mounted, pusherClient } from '../setup/pusher-clients.ts';
import { pusherServer, type PusherServer } from '../setup/pusher-server.ts';
import { ann, builderWith, followingDriver, memoryPlace, runtimeOn } from '../setup/sessions.ts';
import { liveOn, serveFetch } from '../setup/sse.ts';

configure({ asyncUtilTimeout: 5_000 });
afterEach(cleanup);

const { toolCall, stream } = ScenarioStep;
const rows = Array.from({ length: 300 }, (_, id) => ({ id, name: `Lead ${id}` }));

interface World {
  readonly runtime: SessionRuntime;
  readonly id: string;
  readonly url: string;
  readonly remove: MockTool;
  readonly server: PusherServer;
  readonly endpoint: string;
}

/** Starts an agent with a lookup, an approval and too few steps, and all transports. */
async function world(): Promise<World> {
  const look = mockTool('look', () => rows);
  const remove = mockTool('remove', 'removed', { needsApproval: true });
  const driver = followingDriver([
    toolCall('look', { q: 'Helvetia' }, 'I look first.'),
    toolCall('remove', { id: 7 }, 'One of them has to go.'),
    toolCall('look', { q: 'again' }),
    stream(['All ', 'is ', 'well.']),
  ]);
  const runtime = runtimeOn(
    memoryPlace().open(),
    builderWith(driver, look, remove).withMaxSteps(3).build(),
  );
  const { id } = await runtime.create(ann);
  const live = liveOn(runtime);
  const owner = ({ headers }: Request): string | null => headers.get('x-user');
  const refill = refillEndpoint({ runtime, owner });
  const refs = refEndpoint({ runtime, owner });
  const { url } = await serveFetch(async (request) => {
    const { pathname } = new URL(request.url);
    if (pathname === '/live') return live(request, id);
    if (pathname === '/refill') return refill(request, id);
    if (pathname === '/ref') return refs(request, id);
    const { items } = await runtime.messages(id, ann);
    const steps = await runtime.steps(id, ann);
    return Response.json(toUiMessages(items, { steps: steps.items }));
  });
  const server = await pusherServer();
  const { app, host, port } = server;
  const broadcaster = pusherBroadcaster({ ...app, host, port, useTLS: false });
  const broadcasts = broadcastSessions(runtime, { broadcaster });
  onTestFinished(async () => void (await broadcasts.close()));
  const endpoint = await mounted(pusherAuth({ ...app, authorize: ownedSessions(runtime, owner) }));
  return { runtime, id, url, remove, server, endpoint };
}

const reads = ({ url }: World) => ({
  headers: { 'x-user': 'ann' },
  refillUrl: `${url}/refill`,
  historyUrl: `${url}/history`,
});

const wires: readonly (readonly [string, (world: World) => EnvelopeSource])[] = [
  ['SSE', (it) => sseSource({ url: `${it.url}/live`, ...reads(it) })],
  [
    'Laravel Echo',
    (it) =>
      echoSource({
        echo: echoClient(it.server, it.endpoint, 'ann'),
        sessionId: it.id,
        ...reads(it),
      }),
  ],
  [
    'pusher-js',
    (it) =>
      pusherSource({
        pusher: pusherClient(it.server, it.endpoint, 'ann'),
        sessionId: it.id,
        ...reads(it),
      }),
  ],
];

function Screen({
  world,
  source,
  onSession,
}: {
  world: World;
  source: EnvelopeSource;
  onSession: (session: AgentSession) => void;
}): ReactElement {
  const { runtime, id, url } = world;
  const session = useAgentSession({
    source,
    actions: {
      send: (text) => runtime.send(id, text, ann),
      approve: (callId, args) => runtime.approve(id, callId, { ...ann, ...(args && { args }) }),
      deny: (callId, reason) => runtime.deny(id, callId, { ...ann, reason }),
      stop: () => runtime.stop(id, ann),
      resume: (grant) => runtime.resume(id, { ...ann, ...(grant && { grant }) }),
    },
  });
  onSession(session);
  return (
    <AgentChat
      session={session}
      fetchRef={refReader({ url: `${url}/ref`, headers: { 'x-user': 'ann' } })}
    />
  );
}

const calls = (): string[] =>
  [...document.querySelectorAll('[data-onward="tool-call"]')].map(
    (call) =>
      `${call.querySelector('[data-onward="tool-name"]')?.textContent} ${call.getAttribute('data-state')}`,
  );

describe.each(wires)('a whole session over %s', (_wire, sourceOf) => {
  it('is sent, streamed, approved, stopped at a limit, granted and completed', async () => {
    const it = await world();
    let session!: AgentSession;
    render(<Screen world={it} source={sourceOf(it)} onSession={(now) => (session = now)} />);
    await waitFor(() => expect(session.connection).toBe('live'));

    const box = screen.getByRole('textbox', { name: 'Message' });
    fireEvent.change(box, { target: { value: 'Tidy up' } });
    fireEvent.keyDown(box, { key: 'Enter' });
    expect(screen.getByText('Tidy up')).toBeTruthy();

    const card = await screen.findByRole('region', { name: 'Run remove?' });
    expect(calls()).toEqual(['look done', 'remove waiting']);
    expect(screen.getByText('I look first.')).toBeTruthy();
    fireEvent.click(within(card).getByText('Edit arguments'));
    fireEvent.click(within(card).getByText('Edit as JSON'));
    fireEvent.change(within(card).getByRole('textbox'), { target: { value: '{ "id": 8 }' } });
    fireEvent.click(within(card).getByText('Approve with changes'));

    const grant = await screen.findByRole('button', { name: 'Continue with 3 more steps' });
    expect(it.remove.calls).toEqual([{ id: 8 }]);
    expect(calls()).toEqual(['look done', 'remove done', 'look done']);
    expect(screen.getByText('To continue, add 3 steps.')).toBeTruthy();
    expect(screen.queryByRole('region', { name: 'Run remove?' })).toBeNull();
    fireEvent.click(grant);

    await screen.findByText('All is well.');
    await waitFor(() => expect(session.status).toBe('completed'));
    // the view shows each stored message once
    await waitFor(async () => {
      const { items } = await it.runtime.messages(it.id, ann);
      const kept = toUiMessages(items).map(({ role, content }) => [role, content.slice(0, 20)]);
      const said = session.messages.filter(({ role }) => role !== 'status');
      expect(said.map(({ role, content }) => [role, content.slice(0, 20)])).toEqual(kept);
      // and what happened between them
      const events = session.messages.flatMap(({ metadata }) => metadata.event?.kind ?? []);
      expect(events).toEqual(['stop', 'grant']);
    });
    expect(session.error).toBeNull();
    expect(session.actions.filter(({ status }) => status === 'failed')).toEqual([]);
    expect(session.state.gap).toBeNull();
  });

  it('D65: fetches a truncated result completely', async () => {
    const it = await world();
    let session!: AgentSession;
    const source: EnvelopeSource = { ...sourceOf(it) };
    delete source.history;
    render(<Screen world={it} source={source} onSession={(now) => (session = now)} />);
    await waitFor(() => expect(session.connection).toBe('live'));
    await act(() => session.send('Tidy up'));
    await screen.findByRole('region', { name: 'Run remove?' });
    const [first] = document.querySelectorAll<HTMLDetailsElement>('[data-onward="tool-call"]');
    act(() => {
      first!.open = true;
      fireEvent(first!, new window.Event('toggle'));
    });
    fireEvent.click(await within(first!).findByRole('button', { name: 'Show all' }));
    fireEvent.click(await within(first!).findByRole('button', { name: /Show all [\d,]+ lines/ }));
    expect(first!.textContent).toContain('Lead 299');
  });

  it('is shown completely by a page that opens during it', async () => {
    const it = await world();
    await it.runtime.send(it.id, 'Tidy up', { ...ann, wait: true });
    let session!: AgentSession;
    render(<Screen world={it} source={sourceOf(it)} onSession={(now) => (session = now)} />);
    await screen.findByRole('region', { name: 'Run remove?' });
    expect(screen.getByText('Tidy up')).toBeTruthy();
    expect(calls()).toEqual(['look done', 'remove waiting']);
    await act(() => session.deny('t0s1c0', 'not this one'));
    await screen.findByRole('button', { name: 'Continue with 3 more steps' });
    expect(it.remove.calls).toEqual([]);
    expect(calls()[1]).toBe('remove error');
  });
});

it('a refill requests only what the client does not have', async () => {
  const it = await world();
  await it.runtime.send(it.id, 'Tidy up', { ...ann, wait: true });
  const source = sseSource({ url: `${it.url}/live`, ...reads(it) });
  const all = await source.refill!(null, new AbortController().signal);
  expect(all).toEqual(JSON.parse(JSON.stringify(await readRefill(it.runtime, it.id, ann))));
  const rest = await source.refill!(
    { executionId: all.execution_id!, after: 3 },
    new AbortController().signal,
  );
  expect(rest.envelopes.every(({ seq }) => seq! > 3)).toBe(true);
});
