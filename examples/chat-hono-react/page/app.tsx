import { useCallback, useEffect, useState, type ReactElement } from 'react';
import type { SessionSummary } from 'onward/server';
import { SignIn } from './sign-in.tsx';

type Headers = Readonly<Record<string, string>>;

export interface ChatProps {
  readonly sessionId: string;
  readonly headers: Headers;
  /** The conversation has begun, waits or has ended: what the list says of it may have changed. */
  readonly onTurn: () => void;
}

/** Signs in, lists the conversations, and shows the one that the address names. */
export function App({ chat }: { readonly chat: (props: ChatProps) => ReactElement }): ReactElement {
  const [token, setToken] = useState(() => sessionStorage.getItem('token'));
  const keep = (token: string | null): void => {
    if (token === null) sessionStorage.removeItem('token');
    else sessionStorage.setItem('token', token);
    setToken(token);
  };
  if (token === null) return <SignIn onToken={keep} />;
  return <Desk key={token} chat={chat} token={token} signOut={() => keep(null)} />;
}

interface DeskProps {
  readonly chat: (props: ChatProps) => ReactElement;
  readonly token: string;
  readonly signOut: () => void;
}

function Desk({ chat: Chat, token, signOut }: DeskProps): ReactElement {
  const [headers] = useState<Headers>({ authorization: `Bearer ${token}` });
  const [sessions, setSessions] = useState<readonly SessionSummary[]>([]);
  const sessionId = useHash();

  const list = useCallback(async () => {
    const response = await fetch('/api/sessions', { headers });
    if (response.status === 401) return signOut(); // the server has started anew and forgotten the token
    setSessions(((await response.json()) as { sessions: SessionSummary[] }).sessions);
  }, [headers]);
  const begin = async (): Promise<void> => {
    const init = { method: 'POST', headers: { ...headers, 'content-type': 'application/json' } };
    const response = await fetch('/api/sessions', { ...init, body: '{}' });
    location.hash = ((await response.json()) as { id: string }).id;
  };
  useEffect(() => void list(), [list, sessionId]);

  return (
    <div className="app">
      <nav aria-label="Conversations">
        <button onClick={() => void begin()}>New conversation</button>{' '}
        <button onClick={signOut}>Sign out</button>
        <ul>
          {sessions.map(({ id, title }) => (
            <li key={id}>
              <a href={`#${id}`} aria-current={id === sessionId ? 'page' : undefined}>
                {title ?? 'New conversation'}
              </a>
            </li>
          ))}
        </ul>
      </nav>
      <main>
        {sessionId === '' ? (
          <p>Begin with “New conversation”.</p>
        ) : (
          <Chat
            key={sessionId}
            sessionId={sessionId}
            headers={headers}
            onTurn={() => void list()}
          />
        )}
      </main>
    </div>
  );
}

/** The part of the address after #, so that a reload comes back to the same conversation. */
function useHash(): string {
  const read = (): string => location.hash.slice(1);
  const [hash, setHash] = useState(read);
  useEffect(() => {
    const changed = (): void => setHash(read());
    addEventListener('hashchange', changed);
    return () => removeEventListener('hashchange', changed);
  }, []);
  return hash;
}
