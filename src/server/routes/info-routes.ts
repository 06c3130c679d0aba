import type { JsonObject } from '../../json.ts';
import type { ServerInfo } from '../api.ts';
import { route, type Route } from '../route.ts';
import { record, ref } from '../schemas/shapes.ts';
import { version } from '../version.ts';

/** Creates the routes about the server itself. */
export const infoRoutes = (
  info: Omit<ServerInfo, 'owner' | 'isOperator'>,
  isOperator: (request: Request) => Promise<boolean>,
  openapi: () => JsonObject,
): readonly Route[] => [
  route({
    method: 'GET',
    path: '/health',
    name: 'health',
    summary: 'Checks that the server responds.',
    isOpen: true,
    answer: { status: 200, about: 'It responds.', schema: ref('Health') },
    handle: () => ({ ok: true, version }),
  }),
  route({
    method: 'GET',
    path: '/openapi.json',
    name: 'openapi',
    summary: 'Returns this document.',
    isOpen: true,
    answer: { status: 200, about: 'OpenAPI 3.1.', schema: record },
    handle: () => openapi(),
  }),
  route({
    method: 'GET',
    path: '/info',
    name: 'info',
    summary: 'Describes the server, its agents, and the current owner.',
    answer: { status: 200, about: 'The server.', schema: ref('ServerInfo') },
    handle: async ({ request, owner }): Promise<ServerInfo> => ({
      ...info,
      owner,
      isOperator: await isOperator(request),
    }),
  }),
];
