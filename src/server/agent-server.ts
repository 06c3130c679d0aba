import { BroadcastConfig } from '../broadcasting/broadcast-config.ts';
import { sseEndpoint } from '../broadcasting/sse/sse-endpoint.ts';
import { systemClock } from '../clock.ts';
import { AgentError, invalidOption, whole } from '../errors/agent-error.ts';
import type { JsonObject } from '../json.ts';
import {
  withHeaders,
  emptyAnswer,
  isResponse,
  jsonAnswer,
  refusalResponse,
  requestIdOf,
} from './answers.ts';
import { adminGate } from './admin-gate.ts';
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
import { adminRoutes } from './routes/admin-routes.ts';
import { agUiRoute } from './routes/ag-ui-route.ts';
import { evalRoutes } from './routes/eval-routes.ts';
import { controlRoutes } from './routes/control-routes.ts';
import { exportRoute } from './routes/export-route.ts';
import { historyRoutes } from './routes/history-routes.ts';
import { replayRoutes } from './routes/replay-routes.ts';
import { payloadRoutes } from './routes/payload-routes.ts';
import { infoRoutes } from './routes/info-routes.ts';
import { mcpRoute } from './routes/mcp-route.ts';
import { overviewRoutes } from './routes/overview-routes.ts';
import { eventRoute, pusherRoute } from './routes/live-routes.ts';
import { sessionRoutes } from './routes/session-routes.ts';
import { messageLimit, serverInfo } from './server-info.ts';
import type { AgentServer, AgentServerOptions } from './server-options.ts';
import { siteRules } from './site-rules.ts';

type HeaderRecord = Readonly<Record<string, string>>;

/** Server-sent events allow larger results than the default, so clients need not fetch the rest. */
const largeResults = { frameBytes: 32_768, maxResultLength: 4_000 };
/** Milliseconds between two checks of the owner of an open stream. */
const RECHECK_MS = 60_000;

/** Creates a Fetch handler that serves the sessions of a runtime over HTTP: each owner sees their own. */
export function agentServer(options: AgentServerOptions): AgentServer {
  const { runtime, clock = systemClock, cors = null, pusher } = options;
  const { rateLimit = { requests: 600, seconds: 60 }, maxStreams = 20 } = options;
  const basePath = checkedBase(options.basePath ?? '/api');
  const maxBodyBytes = whole('maxBodyBytes', options.maxBodyBytes ?? 1_048_576);
  const maxMessageBytes = messageLimit(options);
  const config = options.broadcast ?? BroadcastConfig.debug(largeResults);
  const { grants } = options;
  const caps = grants === undefined ? {} : { grants: checkedPolicy('agentServer grants', grants) };
  const site = siteRules(cors);
  const errors = reporter(options.onError);
  const gate = gatekeeper(options.owner, errors);
  const admins = options.admin === undefined ? null : adminGate(options.admin, errors);
  const isOperator = async (request: Request): Promise<boolean> =>
    (await admins?.isOperator(request)) ?? false;
  if (options.evals && !admins)
    throw invalidOption(
      'agentServer evals',
      'no admin',
      'the option admin too: reports are for operators',
    );
  const turns = ownerTurns();
  const take = rateLimit && rateLimiter(rateLimit, clock);
  const streams = openStreams({
    maxStreams,
    clock,
    recheckMs: RECHECK_MS,
    isStillAllowed: gate.isStill,
  });
  const events = sseEndpoint({
    runtime,
    config,
    owner: gate.known,
    headers: { 'cache-control': 'no-store, no-transform' },
  });
  const routes: readonly Route[] = [
    ...infoRoutes(serverInfo(options), isOperator, () => openapi),
    ...sessionRoutes(runtime, caps),
    ...overviewRoutes(runtime),
    ...historyRoutes(runtime, caps, config),
    ...replayRoutes(runtime),
    ...[exportRoute(runtime), ...payloadRoutes(runtime)].map((route) =>
      options.payloads ? route : { ...route, handle: noPayloads },
    ),
    eventRoute(events, streams),
    ...controlRoutes(runtime, caps),
    ...(pusher ? [pusherRoute(runtime, pusher, gate.known, errors.report)] : []),
    ...(options.mcp ? [mcpRoute(options.mcp, streams)] : []),
    ...(options.agUi ? [agUiRoute(options.agUi, streams)] : []),
    ...(admins ? adminRoutes(runtime) : []),
    ...(options.evals ? evalRoutes(options.evals) : []),
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
    if (!path) throw noPath();
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
    const enter = route.isAdmin ? admins?.enter : gate.enter;
    const name = route.isOpen ? '' : await enter?.(request, requestId);
    if (name === undefined) throw noPath();
    if (isResponse(name)) return withHeaders(name, headers);
    const [owner, by] = route.isAdmin ? ['', name] : [name, ''];
    const caller = callerOf(owner, by);
    if (!route.isOpen) take?.(caller);
    const query = (await ready.query?.query(url.searchParams)) ?? {};
    const { id, callId } = path;
    const work = async (): Promise<unknown> => {
      const ownBody = route.bodyTypes === undefined ? ready.body : null;
      const body = ownBody
        ? await ownBody.body(
            await readBody(request, route.takesFiles ? maxMessageBytes : maxBodyBytes, caller),
          )
        : {};
      return route.handle({ request, owner, by, id, callId, query, body });
    };
    const said = await (route.isOpen ? work() : turns(caller, work));
    if (isResponse(said)) return withHeaders(said, headers);
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
      // the client retries later, and the operator needs the reason
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
      await Promise.all([events.close(), options.mcp?.close()]);
    },
  });
}

function checkedBase(path: string): string {
  const base = typeof path === 'string' ? path.replace(/\/$/, '') : path;
  if (typeof base === 'string' && /^(?:\/[\w.~-]+)*$/.test(base)) return base;
  throw invalidOption('basePath', path, 'a path such as /api');
}

/** Refuses what is for those who build the product: the sessions of an owner have its prompts. */
const noPayloads = (): never => {
  throw new ApiRefusal(
    'not_found',
    'This server does not show what models and tools got. Enable it with the option payloads.',
  );
};

const noPath = (): ApiRefusal =>
  new ApiRefusal('not_found', 'This path does not exist. See openapi.json.');

/** For rate limits and turns: an operator and an owner of the same name do not share them. No owner has this character. */
const callerOf = (owner: string, by: string): string => (by === '' ? owner : `\u0000${by}`);

const wrongMethod = ({ allow }: FoundPath): ApiRefusal =>
  new ApiRefusal('method_not_allowed', `This path accepts ${allow}.`, { headers: { allow } });

function bodiless(response: Response): Response {
  void response.body?.cancel().catch(() => {});
  return new Response(null, { status: response.status, headers: response.headers });
}
