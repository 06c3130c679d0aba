import { describe, expect, it, vi } from 'vitest';
import { apiClient, type Api } from '../../src/console/api-client.ts';
import { ApiProblem } from '../../src/console/api-problem.ts';
import { json, mute, serve, type Loopback, type Reply } from '../setup/loopback.ts';

async function client(
  ...replies: readonly Reply[]
): Promise<{ readonly api: Api; readonly server: Loopback; readonly onSignedOut: () => void }> {
  const server = await serve(...replies);
  const onSignedOut = vi.fn();
  const api = apiClient({ base: server.url, token: () => 'tok', onSignedOut, timeoutMs: 5_000 });
  return { api, server, onSignedOut };
}

const refusal = (status: number, code: string): Reply =>
  json({ error: { code, message: `words of ${code}` } }, status);

describe('the API client', () => {
  it('calls each route with the token and without omitted options', async () => {
    const { api, server } = await client(...Array.from({ length: 11 }, () => json({ value: 7 })));
    await api.info();
    await api.sessions();
    await api.sessions({ search: 'a&b', cursor: 'c', limit: 50 });
    await api.sessions({ search: '' });
    await api.session('a/b');
    await api.trace('s', { execution: null });
    await api.trace('s', { execution: 'e@1', before: 12 });
    await api.create({ agent: 'one', message: 'Hello' });
    await api.fork('s', 3);
    await api.pause('s');
    expect(await api.ref('s', 'r 1')).toBe(7);
    expect(server.requests.map(({ path }) => path.replace('/v1', ''))).toEqual([
      '/info',
      '/sessions',
      '/sessions?search=a%26b&cursor=c&limit=50',
      '/sessions',
      '/sessions/a%2Fb',
      '/sessions/s/trace',
      '/sessions/s/trace?execution=e%401&before=12',
      '/sessions',
      '/sessions/s/fork',
      '/sessions/s/pause',
      '/sessions/s/refs?ref=r+1',
    ]);
    expect(server.requests.every(({ headers }) => headers.authorization === 'Bearer tok')).toBe(
      true,
    );
    expect(server.requests[7]?.body).toEqual({ agent: 'one', message: 'Hello' });
    expect(server.requests[8]?.body).toEqual({ atStep: 3 });
  });

  it('accepts a response without a body', async () => {
    const { api } = await client((response) => void response.writeHead(204).end());
    await expect(api.remove('s')).resolves.toBeUndefined();
  });

  it.each([
    [404, 'session_not_found', { isNotFound: true, isSignedOut: false, isUnreachable: false }],
    [403, 'forbidden', { isNotFound: true }],
    [503, 'closing', { isUnreachable: true }],
    [429, 'rate_limited', { isNotFound: false, isUnreachable: false }],
  ])('throws a problem with the message of the server: %d %s', async (status, code, is) => {
    const { api, onSignedOut } = await client(refusal(status, code));
    const problem = await api.info().catch((thrown: unknown) => thrown);
    expect(problem).toBeInstanceOf(ApiProblem);
    expect(problem).toMatchObject({ status, code, message: `words of ${code}`, ...is });
    expect(onSignedOut).not.toHaveBeenCalled();
  });

  it('reports a sign-out on 401', async () => {
    const { api, onSignedOut } = await client(refusal(401, 'unauthorized'));
    await expect(api.info()).rejects.toMatchObject({ isSignedOut: true });
    expect(onSignedOut).toHaveBeenCalledOnce();
  });

  it('refuses a response that is a page', async () => {
    const { api } = await client(json('<h1>Welcome</h1>'));
    await expect(api.info()).rejects.toMatchObject({ code: 'unreadable', isUnreachable: true });
  });

  it('times out if the server does not respond', async () => {
    const server = await serve(mute);
    const api = apiClient({ base: server.url, token: () => null, timeoutMs: 50 });
    await expect(api.info()).rejects.toMatchObject({ code: 'timeout', isUnreachable: true });
    expect(server.requests[0]?.headers.authorization).toBeUndefined();
  });

  it('distinguishes an abort from an unreachable server', async () => {
    const { api, server } = await client(mute);
    const end = new AbortController();
    const left = api.info(end.signal).catch((thrown: unknown) => thrown);
    await expect.poll(() => server.requests).toHaveLength(1);
    end.abort();
    expect(await left).toMatchObject({ code: 'aborted' });
    await server.close();
    await expect(api.info()).rejects.toMatchObject({ code: 'unreachable' });
  });
});
