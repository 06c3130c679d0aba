/** Whether only programs of this machine can reach the address. */
export const isLoopback = (hostname: string): boolean =>
  hostname === 'localhost' || hostname === '::1' || /^127(?:\.\d{1,3}){3}$/.test(hostname);

/**
 * Returns the host names that a request to a loopback server may use. A page of another site can point its own name
 * to this machine (DNS rebinding), and only the name shows that.
 */
export function loopbackHosts(
  hostname: string,
  port: number,
  more: readonly string[],
): ReadonlySet<string> {
  const names = new Set(['127.0.0.1', 'localhost', '[::1]', inUrl(hostname)]);
  const hosts = [...names].map((name) => `${name}:${port}`);
  return new Set([
    ...hosts,
    ...(port === 80 ? names : []),
    ...more.map((host) => host.toLowerCase()),
  ]);
}

/** Adds brackets to an IPv6 address. */
export const inUrl = (hostname: string): string =>
  hostname.includes(':') ? `[${hostname}]` : hostname;

/** Whether both the header and the URL of the request are ours: they differ if the request line has an absolute URL. */
export function isForUs(request: Request, hosts: ReadonlySet<string>): boolean {
  const { host, port, hostname } = new URL(request.url);
  const asked = port === '' ? `${hostname}:80` : host;
  const named = (request.headers.get('host') ?? '').toLowerCase();
  return (hosts.has(asked) || hosts.has(host)) && hosts.has(named);
}
