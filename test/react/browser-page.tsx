import { createRoot } from 'react-dom/client';
import { useMemo, type ReactElement } from 'react';
import type { Envelope } from '../../src/broadcasting/envelope.ts';
import { AgentChat, useAgentSession } from '../../src/react/index.ts';
import { fakeSource, Wire } from './fake-source.ts';

/** Controls of the page for a test in a browser. */
export interface Stage {
  readonly bring: (...envelopes: readonly Envelope[]) => void;
  readonly wire: Wire;
  readonly fail: (message: string) => void;
  readonly online: (isLive: boolean) => void;
  /** Actions of the user. */
  readonly asked: unknown[][];
  refuse: boolean;
}

declare global {
  interface Window {
    stage: Stage;
  }
}

const fake = fakeSource();
const asked: unknown[][] = [];
const stage: Stage = {
  bring: (...envelopes) => {
    for (const envelope of envelopes) fake.sink().envelope(envelope);
  },
  wire: new Wire(),
  fail: (message) => fake.sink().failed(new Error(message)),
  online: (isLive) => fake.sink().connection(isLive ? 'live' : 'offline'),
  asked,
  refuse: false,
};
window.stage = stage;

const ask =
  (kind: string) =>
  async (...args: unknown[]): Promise<void> => {
    asked.push([kind, ...args]);
    if (stage.refuse) throw new Error('the server answered 503');
  };

function Page(): ReactElement {
  const actions = useMemo(
    () => ({
      send: ask('send'),
      approve: ask('approve'),
      deny: ask('deny'),
      answer: ask('answer'),
      stop: ask('stop'),
      resume: ask('resume'),
    }),
    [],
  );
  const session = useAgentSession({ source: fake.source, actions });
  return (
    <AgentChat
      session={session}
      title={<h1>Partner assistant</h1>}
      fetchRef={async (ref) => ({ ref, rows: Array.from({ length: 40 }, (_, id) => ({ id })) })}
    />
  );
}

const root = document.querySelector('#root');
if (root) createRoot(root).render(<Page />);
