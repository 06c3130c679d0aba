/** Uses the two subpaths with peer packages. */
import { createAgent } from 'onward';
import { openai } from 'onward/drivers/openai';
import { AgentChat, useAgentSession, type AgentSession } from 'onward/react';
import { httpSession } from 'onward/ui';
import OpenAI from 'openai';
import type { ReactElement } from 'react';

export function Chat({ sessionId }: { readonly sessionId: string }): ReactElement {
  const session: AgentSession = useAgentSession(httpSession({ base: '/api', sessionId }));
  return <AgentChat session={session} />;
}

const client = new OpenAI({ apiKey: 'k', dangerouslyAllowBrowser: true });
const agent = createAgent({ driver: openai('gpt-5', { client }) });
console.log(typeof agent.run, typeof Chat);
