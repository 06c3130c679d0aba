import Echo from 'laravel-echo';
import { AgentChat, useAgentSession } from 'onward/react';
import { echoSource, httpActions, refReader } from 'onward/ui';
import Pusher from 'pusher-js';
import { useEffect, type ReactElement } from 'react';
import { createRoot } from 'react-dom/client';
import { App, type ChatProps } from '../../chat-hono-react/page/app.tsx';
import type { Reverb } from '../reverb.ts';

Object.assign(window, { Pusher }); // where Echo looks for it
const reverb = (await (await fetch('/reverb')).json()) as Omit<Reverb, 'secret' | 'appId'>;

/** One connection for all conversations of a user, who is known by the headers. */
const echos = new WeakMap<ChatProps['headers'], Echo<'reverb'>>();
function echoOf(headers: ChatProps['headers']): Echo<'reverb'> {
  const { key, host, port, useTLS } = reverb;
  const echo =
    echos.get(headers) ??
    new Echo({
      broadcaster: 'reverb',
      key,
      wsHost: host,
      wsPort: port,
      wssPort: port,
      forceTLS: useTLS,
      enabledTransports: ['ws', 'wss'],
      authEndpoint: '/api/pusher/auth',
      auth: { headers },
    });
  echos.set(headers, echo);
  return echo;
}

/** One session on the screen: live updates come from Reverb, requests go to the API. */
function Chat({ sessionId, headers, onTurn }: ChatProps): ReactElement {
  const url = `/api/sessions/${sessionId}`;
  const session = useAgentSession({
    source: echoSource({
      echo: echoOf(headers),
      sessionId,
      headers,
      refillUrl: `${url}/log`,
      historyUrl: `${url}/messages`,
    }),
    actions: httpActions({ base: '/api', sessionId, headers }),
  });
  useEffect(onTurn, [session.status]);
  const fetchRef = refReader({ url: `${url}/refs`, headers });
  return <AgentChat session={session} fetchRef={fetchRef} title={<h1>Support on Reverb</h1>} />;
}

const root = document.querySelector('#root');
if (root) createRoot(root).render(<App chat={Chat} />);
