import { fieldReader, type FieldReader } from './fields.ts';
import { ApiRefusal } from './refusal.ts';
import type { Route } from './route.ts';

export interface ReadyRoute {
  readonly route: Route;
  readonly query: FieldReader | null;
  readonly body: FieldReader | null;
}

/** The methods of one path. */
export interface RoutePath {
  readonly methods: ReadonlyMap<string, ReadyRoute>;
  /** Value of the `allow` header. */
  readonly allow: string;
}

export interface FoundPath extends RoutePath {
  readonly id: string;
  readonly callId: string;
}

/** Maximum characters of a path, with the longest encoded ids. */
const MAX_CHARS = 4_000;
/** Characters that no id contains, however it was encoded. */
// oxlint-disable-next-line no-control-regex -- control characters are what is refused
const NO_ID = /[/\\\u0000-\u001f\u007f]/;

interface Entry extends RoutePath {
  readonly segments: readonly string[];
}

/**
 * Creates a lookup. It is prepared once, so a request costs a split and a few comparisons. Null: the path does not
 * exist.
 */
export function routeTable(
  basePath: string,
  routes: readonly Route[],
): (pathname: string) => FoundPath | null {
  const bySize = new Map<number, Entry[]>();
  for (const path of new Set(routes.map((route) => route.path))) {
    const segments = path.split('/').slice(1);
    const entries = bySize.get(segments.length) ?? [];
    entries.push({ segments, ...pathOf(routes.filter((route) => route.path === path)) });
    bySize.set(segments.length, entries);
  }
  const prefix = `${basePath}/`;
  return (pathname) => {
    if (!pathname.startsWith(prefix) || pathname.length > MAX_CHARS) return null;
    const given = pathname.slice(prefix.length).split('/');
    const entry = bySize.get(given.length)?.find(({ segments }) => fits(segments, given));
    if (!entry) return null;
    const id = valueOf(entry.segments, given, '{id}');
    const callId = valueOf(entry.segments, given, '{callId}');
    return id === null || callId === null ? null : { ...entry, id, callId };
  };
}

function pathOf(routes: readonly Route[]): RoutePath {
  const methods = new Map<string, ReadyRoute>();
  for (const route of routes) {
    const { method, name, query, body, bodyRules } = route;
    const ready = {
      route,
      query: query ? fieldReader(name, query) : null,
      body: body ? fieldReader(name, body, bodyRules) : null,
    };
    methods.set(method, ready);
    // a stream has no end, so HEAD returns nothing
    if (method === 'GET' && route.answer.contentType !== 'text/event-stream')
      methods.set('HEAD', ready);
  }
  return { methods, allow: [...methods.keys(), 'OPTIONS'].join(', ') };
}

const fits = (segments: readonly string[], given: readonly string[]): boolean =>
  segments.every((segment, i) =>
    segment.startsWith('{') ? given[i] !== '' : segment === given[i],
  );

/** Decodes a segment once. Null: it is not a valid id. */
function valueOf(
  segments: readonly string[],
  given: readonly string[],
  name: string,
): string | null {
  const text = given[segments.indexOf(name)];
  if (text === undefined) return '';
  try {
    const value = text.includes('%') ? decodeURIComponent(text) : text;
    return NO_ID.test(value) ? null : value;
  } catch {
    throw new ApiRefusal('invalid_request', 'The path has a % that does not encode a character.');
  }
}
