import { createRoot } from 'react-dom/client';
import { AgentChat, useAgentSession } from 'onward/react';
import { httpSession, refReader } from 'onward/ui';
import { useEffect, type ReactElement } from 'react';
import { App, type ChatProps } from './app.tsx';

/** One session on the screen: text as it is written, tools, questions, and why it stopped. */
function Chat({ sessionId, headers, onTurn }: ChatProps): ReactElement {
  const session = useAgentSession(httpSession({ base: '/api', sessionId, headers }));
  useEffect(onTurn, [session.status]);
  const fetchRef = refReader({ url: `/api/sessions/${sessionId}/refs`, headers });
  return <AgentChat session={session} fetchRef={fetchRef} title={<h1>Support</h1>} />;
}

const root = document.querySelector('#root');
if (root) createRoot(root).render(<App chat={Chat} />);
