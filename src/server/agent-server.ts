import { BroadcastConfig } from '../broadcasting/broadcast-config.ts';
import { sseEndpoint } from '../broadcasting/sse/sse-endpoint.ts';
import { systemClock } from '../clock.ts';
import { AgentError, invalidOption, whole } from '../errors/agent-error.ts';
import type { JsonObject } from '../json.ts';
import {
  dressed,
  emptyAnswer,
  isResponse,
  jsonAnswer,
  refusalResponse,
  requestIdOf,
} from './answers.ts';
import { checkedPolicy } from '../sessions/grant-policy.ts';
import { gatekeeper } from './gatekeeper.ts';
import { openapiOf } from './openapi.ts';
import { openStreams } from './open-streams.ts';
import { ownerTurns } from './owner-turns.ts';
import { rateLimiter } from './rate-limit.ts';
import { readBody } from './read-body.ts';
import { ApiRefusal, internalFault, refusalAnswer } from './refusal.ts';
import { reporter } from './report-error.ts';
import { routeTable, type FoundPath } from './route-table.ts';
import type { Route } from './route.ts';
import { controlRoutes } from './routes/control-routes.ts';
import { historyRoutes } from './routes/history-routes.ts';
import { infoRoutes } from './routes/info-routes.ts';
import { eventRoute, pusherRoute } from './routes/live-routes.ts';
import { sessionRoutes } from './routes/session-routes.ts';
import { serverInfo } from './server-info.ts';
import type { AgentServer, AgentServerOptions } from './server-options.ts';
import { siteRules } from './site-rules.ts';

type HeaderRecord = Readonly<Record<string, string>>;

/** Server-sent events have room: results can be shown without asking for the rest. */
const roomy = { frameBytes: 32_768, maxResultLength: 4_000 };
/** How often the owner hook is asked again about a stream that is open. */
const ASK_AGAIN_MS = 60_000;

/** The sessions of a runtime over HTTP: each owner sees their own. */
export function agentServer(options: AgentServerOptions): AgentServer {
  const { runtime, clock = systemClock, cors = null, pusher } = options;
  const { rateLimit = { requests: 600, seconds: 60 }, maxStreams = 20 } = options;
  const basePath = checkedBase(options.basePath ?? '/api');
  const maxBodyBytes = whole('maxBodyBytes', options.maxBodyBytes ?? 1_048_576);
  const config = options.broadcast ?? BroadcastConfig.debug(roomy);
  const { grants } = options;
  const caps = grants === undefined ? {} : { grants: checkedPolicy('agentServer grants', grants) };
  const site = siteRules(cors);
  const errors = reporter(options.onError);
  const gate = gatekeeper(options.owner, errors);
  const turns = ownerTurns();
  const take = rateLimit && rateLimiter(rateLimit, clock);
  const streams = openStreams({
    maxStreams,
    clock,
    askAgainMs: ASK_AGAIN_MS,
    isWelcome: gate.isStill,
  });
  const events = sseEndpoint({
    runtime,
    config,
    owner: gate.known,
    headers: { 'cache-control': 'no-store, no-transform' },
  });
  const routes: readonly Route[] = [
    ...infoRoutes(serverInfo(options), () => openapi),
    ...sessionRoutes(runtime, caps, errors.report),
    ...historyRoutes(runtime, caps, config),
    eventRoute(events, streams),
    ...controlRoutes(runtime, caps),
    ...(pusher ? [pusherRoute(runtime, pusher, gate.known, errors.report)] : []),
  ];
  const openapi: JsonObject = openapiOf(routes, { title: options.name ?? 'onward', basePath });
  const find = routeTable(basePath, routes);

  const answer = async (
    request: Request,
    headers: HeaderRecord,
    requestId: string,
  ): Promise<Response> => {
    const url = new URL(request.url);
    const path = find(url.pathname);
    if (!path) throw new ApiRefusal('not_found', 'There is no such path; see openapi.json.');
    const { method } = request;
    if (method === 'OPTIONS')
      return emptyAnswer(204, {
        ...headers,
        allow: path.allow,
        ...site.preflight(request, path.allow),
      });
    const ready = path.methods.get(method);
    if (!ready) throw wrongMethod(path);
    const { route } = ready;
    if (route.method !== 'GET') site.check(request);
    const owner = route.isOpen ? '' : await gate.enter(request, requestId);
    if (isResponse(owner)) return dressed(owner, headers);
    if (!route.isOpen) take?.(owner);
    const query = (await ready.query?.query(url.searchParams)) ?? {};
    const { id, callId } = path;
    const work = async (): Promise<unknown> => {
      const ownBody = route.bodyTypes === undefined ? ready.body : null;
      const body = ownBody ? await ownBody.body(await readBody(request, maxBodyBytes, owner)) : {};
      return route.handle({ request, owner, id, callId, query, body });
    };
    const said = await (route.isOpen ? work() : turns(owner, work));
    if (isResponse(said)) return dressed(said, headers);
    const { status } = route.answer;
    if (status === 204) return emptyAnswer(status, headers);
    return jsonAnswer(status, said, {
      ...headers,
      ...(status === 201 && {
        location: `${basePath}/sessions/${encodeURIComponent((said as { readonly id: string }).id)}`,
      }),
    });
  };

  const respond = async (request: Request): Promise<Response> => {
    const requestId = requestIdOf(request);
    errors.name(request, requestId);
    const headers = { 'x-request-id': requestId, ...site.headersFor(request) };
    let response: Response;
    try {
      response = await answer(request, headers, requestId);
    } catch (error) {
      // the client is gone
      if (request.signal.aborted) return emptyAnswer(499, headers);
      // the client comes back later, and the operator needs the reason
      if (AgentError.is(error, 'store_failed')) errors.report(error, request);
      const refusal = refusalAnswer(error, () => {
        errors.report(error, request);
        return internalFault(requestId);
      });
      response = refusalResponse(refusal, headers);
    }
    return request.method === 'HEAD' ? bodiless(response) : response;
  };

  return Object.assign((request: Request) => respond(request), {
    fetch: respond,
    openapi,
    async close(): Promise<void> {
      streams.close();
      await events.close();
    },
  });
}

function checkedBase(path: string): string {
  const base = typeof path === 'string' ? path.replace(/\/$/, '') : path;
  if (typeof base === 'string' && /^(?:\/[\w.~-]+)*$/.test(base)) return base;
  throw invalidOption('basePath', path, 'a path such as /api');
}

const wrongMethod = ({ allow }: FoundPath): ApiRefusal =>
  new ApiRefusal('method_not_allowed', `This path takes ${allow}.`, { headers: { allow } });

function bodiless(response: Response): Response {
  void response.body?.cancel().catch(() => {});
  return new Response(null, { status: response.status, headers: response.headers });
}
