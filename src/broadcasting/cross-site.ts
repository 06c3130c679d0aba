import { invalidOption } from '../errors/agent-error.ts';

/**
 * Whether a page of another site made this request. The browser attaches cookies to such a request, so it must not
 * change anything. A request without a page, such as one from a script, is not cross-site. `allowed` lists origins
 * that may send requests.
 */
export function isCrossSite(
  { headers, url }: Pick<Request, 'headers' | 'url'>,
  allowed: ReadonlySet<string>,
): boolean {
  const origin = headers.get('origin');
  if (origin !== null && allowed.has(origin)) return false;
  // only the browser sets this header, and it is correct even if a proxy has changed the host
  const site = headers.get('sec-fetch-site');
  if (site !== null) return site !== 'same-origin' && site !== 'none';
  return origin !== null && !isSameHost(origin, [new URL(url).host, headers.get('host')]);
}

function isSameHost(origin: string, hosts: readonly (string | null)[]): boolean {
  if (!URL.canParse(origin)) return false; // a page without an origin sends `null`
  const { host } = new URL(origin);
  return host !== '' && hosts.includes(host);
}

/** Returns origins as browsers send them. `*` is refused: every page on the web could act as the owner. */
export const checkedOrigins = (name: string, origins: readonly string[]): ReadonlySet<string> =>
  new Set(
    origins.map((origin) => {
      if (typeof origin === 'string' && URL.canParse(origin) && new URL(origin).origin === origin)
        return origin;
      throw invalidOption(name, origin, 'an origin such as https://app.example.com');
    }),
  );
