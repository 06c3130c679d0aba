const key = 'onward-token';

/** The parts of the browser that a page needs, so that tests need none. */
export interface TokenPlace {
  readonly location: Pick<Location, 'hash' | 'pathname' | 'search'>;
  readonly history: Pick<History, 'replaceState'>;
  readonly storage: Pick<Storage, 'getItem' | 'setItem' | 'removeItem'> | null;
}

/** The token of this browser, which came with the address once. */
export interface TokenKeeper {
  get(): string | null;
  set(token: string): void;
  /** Removes a token from the address, so that it is not copied; false if there is none. */
  take(): boolean;
}

export function tokenKeeper(browser: TokenPlace): TokenKeeper {
  const { location, history, storage } = browser;
  // a browser without storage stays signed in until the page is closed
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

/** Finds `#token=abc`, also after a route: `#/s/1?token=abc`. */
export function tokenIn(hash: string): { readonly token: string; readonly hash: string } | null {
  const found = /([#?&])token=([^&#]+)&?/.exec(hash);
  const raw = found?.[2];
  if (!found || raw === undefined) return null;
  const rest = hash.replace(found[0], found[1] ?? '').replace(/[?&#]+$/, '');
  return { token: guarded(() => decodeURIComponent(raw)) ?? raw, hash: rest };
}

/** Reads what the user pasted: a token, or the whole printed address. */
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
