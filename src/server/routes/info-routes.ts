import type { JsonObject } from '../../json.ts';
import type { ServerInfo } from '../api.ts';
import { route, type Route } from '../route.ts';
import { record, ref } from '../schemas/shapes.ts';
import { version } from '../version.ts';

/** About the server itself. */
export const infoRoutes = (
  info: Omit<ServerInfo, 'owner'>,
  openapi: () => JsonObject,
): readonly Route[] => [
  route({
    method: 'GET',
    path: '/health',
    name: 'health',
    summary: 'Whether the server answers.',
    isOpen: true,
    answer: { status: 200, about: 'It does.', schema: ref('Health') },
    handle: () => ({ ok: true, version }),
  }),
  route({
    method: 'GET',
    path: '/openapi.json',
    name: 'openapi',
    summary: 'This document.',
    isOpen: true,
    answer: { status: 200, about: 'OpenAPI 3.1.', schema: record },
    handle: () => openapi(),
  }),
  route({
    method: 'GET',
    path: '/info',
    name: 'info',
    summary: 'What this server is, its agents, and who you are.',
    answer: { status: 200, about: 'About the server.', schema: ref('ServerInfo') },
    handle: ({ owner }): ServerInfo => ({ ...info, owner }),
  }),
];
