import { useMemo, useState, type ReactElement } from 'react';
import { apiClient } from './api-client.ts';
import { Console } from './console.tsx';
import { SignIn } from './sign-in.tsx';
import { tokenKeeper } from './token.ts';
import { useHash } from './route.ts';

/** The API has a path next to the page, wherever it is mounted. */
const apiBase = (): string => new URL('api', document.baseURI).href.replace(/[#?].*$/, '');

const storage = (): Storage | null => {
  try {
    return localStorage;
  } catch {
    return null;
  }
};

export function App(): ReactElement {
  const keeper = useMemo(() => tokenKeeper({ location, history, storage: storage() }), []);
  // a tab may open the address of another server start
  const hash = useHash();
  const [signIns, setSignIns] = useState(0);
  const [isSignedOut, setSignedOut] = useState(false);
  const [seen, setSeen] = useState<string | null>(null);
  if (seen !== hash) {
    setSeen(hash);
    if (keeper.take()) {
      setSignedOut(false);
      setSignIns(signIns + 1);
    }
  }
  const api = useMemo(
    () =>
      apiClient({
        base: apiBase(),
        token: keeper.get,
        onSignedOut: () => setSignedOut(true),
      }),
    // a new sign-in reads everything anew
    // oxlint-disable-next-line react-hooks/exhaustive-deps
    [keeper, signIns],
  );
  if (isSignedOut)
    return (
      <SignIn
        wasRefused={keeper.get() !== null}
        onToken={(token) => {
          keeper.set(token);
          setSignedOut(false);
          setSignIns(signIns + 1);
        }}
      />
    );
  return <Console api={api} />;
}
