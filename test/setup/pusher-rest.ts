import type { Channels } from './pusher-channels.ts';
import { isPresence } from './pusher-channels.ts';
import type { RawAnswer, RawRequest } from './pusher-http.ts';
import { hmac, phpJson, signedText } from './pusher-signing.ts';

export interface RestOptions {
  readonly appId: string;
  readonly secret: string;
  readonly path: string;
  readonly channels: Channels;
  isConnected(socketId: string): boolean;
}

type Fields = Readonly<Record<string, unknown>>;

const plain = (status: number, body: string): RawAnswer => ({ status, body });
const ok = (value: unknown): RawAnswer => ({ status: 200, body: phpJson(value) });

/** The REST API with the answers of Reverb 1.10.2. */
export function answerRest(request: RawRequest, options: RestOptions): RawAnswer {
  const { pathname, searchParams } = new URL(request.target, 'http://server');
  if (!pathname.startsWith(options.path)) return plain(404, 'Not found.');
  const path = pathname.slice(options.path.length);
  if (path === '/up') return ok({ health: 'OK' });
  const [, appId, rest = ''] = /^\/apps\/([^/]+)\/(.+)$/.exec(path) ?? [];
  if (appId === undefined) return plain(404, 'Not found.');
  const isPost = rest === 'events' || rest === 'batch_events';
  const isGet = /^(?:channels(?:\/[^/]+(?:\/users)?)?|connections)$/.test(rest);
  if (!isPost && !isGet) return plain(404, 'Not found.');
  if (request.method !== (isPost ? 'POST' : 'GET')) return plain(405, 'Method not allowed.');
  if (appId !== options.appId) return plain(404, `No matching application for ID [${appId}].`);
  const signed = signedText(request.method, path, searchParams, request.body);
  if (hmac(options.secret, signed) !== searchParams.get('auth_signature'))
    return plain(401, 'Authentication signature invalid.');
  try {
    return isPost
      ? publish(rest, JSON.parse(request.body.toString('utf8')) as Fields, options)
      : look(rest, searchParams, options.channels);
  } catch {
    return plain(500, 'Internal server error.');
  }
}

function publish(route: string, body: Fields, options: RestOptions): RawAnswer {
  const { channels, isConnected } = options;
  if (route === 'events') {
    const problems = { ...problemsOf(body), ...channelProblems(body) };
    if (Object.keys(problems).length > 0) return { status: 422, body: phpJson(problems) };
    const names = (body['channels'] ?? [body['channel']]) as readonly string[];
    for (const channel of names)
      channels.publish(
        channel,
        { event: body['name'], data: body['data'], channel },
        body['socket_id'] as string | undefined,
      );
    return ok({});
  }
  const batch = body['batch'];
  if (!Array.isArray(batch)) return { status: 422, body: phpJson({ batch: ['is required'] }) };
  const items = batch as readonly Fields[];
  const problems = items.flatMap((item, i) =>
    Object.entries(problemsOf(item)).map(([name, said]) => [`batch.${i}.${name}`, said] as const),
  );
  if (problems.length > 0) return { status: 422, body: phpJson(Object.fromEntries(problems)) };
  for (const { channel, name, data, socket_id: except } of items) {
    // a bug in that version: this event and all later ones are lost
    if (typeof except === 'string' && isConnected(except)) throw new Error('socket_id in a batch');
    channels.publish(String(channel), { event: name, channel, data });
  }
  return ok({ batch: {} });
}

function problemsOf({ name, data }: Fields): Record<string, readonly string[]> {
  return {
    ...(typeof name !== 'string' && { name: ['The name field is required.'] }),
    ...((typeof data !== 'string' || data === '') && { data: ['The data field is required.'] }),
  };
}

function channelProblems({ channel, channels }: Fields): Record<string, readonly string[]> {
  if (channels !== undefined && !Array.isArray(channels))
    return { channels: ['The channels field must be an array.'] };
  return channels === undefined && typeof channel !== 'string'
    ? { channel: ['The channel field is required.'] }
    : {};
}

function look(route: string, query: URLSearchParams, channels: Channels): RawAnswer {
  if (route === 'connections') return ok({ connections: channels.connections() });
  const wants = (query.get('info') ?? '').split(',');
  const info = (channel: string): Fields => ({
    ...(wants.includes('subscription_count') &&
      !isPresence(channel) && { subscription_count: channels.size(channel) }),
    ...(wants.includes('user_count') &&
      isPresence(channel) && { user_count: channels.userIds(channel).length }),
  });
  const [, encoded, users] = /^channels\/([^/]+)(\/users)?$/.exec(route) ?? [];
  if (encoded === undefined) {
    const prefix = query.get('filter_by_prefix') ?? '';
    const found = channels.names().filter((channel) => channel.startsWith(prefix));
    const entries = found.map((channel) => [channel, info(channel)] as const);
    return ok({ channels: entries.length > 0 ? Object.fromEntries(entries) : [] });
  }
  const channel = decodeURIComponent(encoded);
  const isOccupied = channels.size(channel) > 0;
  if (users === undefined) return ok({ occupied: isOccupied, ...info(channel) });
  if (!isOccupied) return plain(404, '{}');
  if (!isPresence(channel)) return plain(400, '{}');
  return ok({ users: channels.userIds(channel).map((id) => ({ id })) });
}
