const key = 'onward-token';

/** What a page needs of its browser, so that tests need none. */
export interface TokenPlace {
  readonly location: Pick<Location, 'hash' | 'pathname' | 'search'>;
  readonly history: Pick<History, 'replaceState'>;
  readonly storage: Pick<Storage, 'getItem' | 'setItem' | 'removeItem'> | null;
}

/** The token of this browser, which came with the address once. */
export interface TokenKeeper {
  get(): string | null;
  set(token: string): void;
  /** Removes a token from the address, so that it is not copied with the address; false where there is none. */
  take(): boolean;
}

export function tokenKeeper(place: TokenPlace): TokenKeeper {
  const { location, history, storage } = place;
  // a browser without storage stays signed in until the page is left
  let token: string | null = guarded(() => storage?.getItem(key) ?? null);
  const set = (next: string): void => {
    token = next;
    guarded(() => storage?.setItem(key, next) ?? null);
  };
  return {
    get: () => token,
    set,
    take() {
      const found = tokenIn(location.hash);
      if (!found) return false;
      set(found.token);
      history.replaceState(null, '', `${location.pathname}${location.search}${found.hash}`);
      return true;
    },
  };
}

/** `#token=abc`, also behind a route: `#/s/1?token=abc`. */
export function tokenIn(hash: string): { readonly token: string; readonly hash: string } | null {
  const found = /([#?&])token=([^&#]+)&?/.exec(hash);
  const raw = found?.[2];
  if (!found || raw === undefined) return null;
  const rest = hash.replace(found[0], found[1] ?? '').replace(/[?&#]+$/, '');
  return { token: guarded(() => decodeURIComponent(raw)) ?? raw, hash: rest };
}

/** What was pasted into the sign-in field: a token, or the whole address that was printed. */
export const pastedToken = (text: string): string => {
  const trimmed = text.trim();
  return tokenIn(trimmed.slice(Math.max(0, trimmed.indexOf('#'))))?.token ?? trimmed;
};

function guarded<T>(read: () => T): T | null {
  try {
    return read();
  } catch {
    return null;
  }
}
