/** An address that only programs of this machine can reach. */
export const isLoopback = (hostname: string): boolean =>
  hostname === 'localhost' || hostname === '::1' || /^127(?:\.\d{1,3}){3}$/.test(hostname);

/**
 * Which names a request may call a loopback server by. A page of another site can let its own name point to this
 * machine (DNS rebinding), and then only the name tells that it is not ours.
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

/** An IPv6 address stands in brackets. */
export const inUrl = (hostname: string): string =>
  hostname.includes(':') ? `[${hostname}]` : hostname;

/** The header and the address of the request must both be ours: they differ where the address was sent in full. */
export function isForUs(request: Request, hosts: ReadonlySet<string>): boolean {
  const { host, port, hostname } = new URL(request.url);
  const asked = port === '' ? `${hostname}:80` : host;
  const named = (request.headers.get('host') ?? '').toLowerCase();
  return (hosts.has(asked) || hosts.has(host)) && hosts.has(named);
}
