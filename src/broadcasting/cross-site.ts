import { invalidOption } from '../errors/agent-error.ts';

/**
 * Whether a page of another site made this request: cookies go along with it, so it may change nothing. Requests of
 * programs, which have no page, are not. `allowed` holds origins that may.
 */
export function isCrossSite(
  { headers, url }: Pick<Request, 'headers' | 'url'>,
  allowed: ReadonlySet<string>,
): boolean {
  const origin = headers.get('origin');
  if (origin !== null && allowed.has(origin)) return false;
  // set by the browser alone, and right where a proxy has changed the host
  const site = headers.get('sec-fetch-site');
  if (site !== null) return site !== 'same-origin' && site !== 'none';
  return origin !== null && !isSameHost(origin, [new URL(url).host, headers.get('host')]);
}

function isSameHost(origin: string, hosts: readonly (string | null)[]): boolean {
  if (!URL.canParse(origin)) return false; // `null` of a page without an origin
  const { host } = new URL(origin);
  return host !== '' && hosts.includes(host);
}

/** Origins as browsers send them. `*` would let every page of the web use what the owner may use. */
export const checkedOrigins = (name: string, origins: readonly string[]): ReadonlySet<string> =>
  new Set(
    origins.map((origin) => {
      if (typeof origin === 'string' && URL.canParse(origin) && new URL(origin).origin === origin)
        return origin;
      throw invalidOption(name, origin, 'an origin such as https://app.example.com');
    }),
  );
