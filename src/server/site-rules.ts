import { checkedOrigins, isCrossSite } from '../broadcasting/cross-site.ts';
import { ApiRefusal } from './refusal.ts';

/** Other origins whose pages may use the API. */
export interface Cors {
  /** Origins exactly as browsers send them, such as `https://app.example.com`. */
  readonly origins: readonly string[];
  /** Whether those pages may send cookies. */
  readonly credentials?: boolean;
}

type HeaderRecord = Readonly<Record<string, string>>;

export interface SiteRules {
  /** Returns the headers for every response to this request. */
  headersFor(request: Request): HeaderRecord;
  /** Refuses a change that a page of another site requests: the browser would attach cookies. */
  check(request: Request): void;
  /** Returns headers of OPTIONS in addition to `allow`. */
  preflight(request: Request, allow: string): HeaderRecord;
}

const HEADER_NAMES = /^[\w-]{1,64}(?: *, *[\w-]{1,64}){0,31}$/;
const nothing: HeaderRecord = {};

export function siteRules(cors: Cors | null): SiteRules {
  const origins = checkedOrigins('cors.origins', cors?.origins ?? []);
  const isAllowed = (origin: string | null): origin is string =>
    origin !== null && origins.has(origin);
  const varies: HeaderRecord = cors ? { vary: 'origin' } : nothing;

  const headersFor = (request: Request): HeaderRecord => {
    if (!cors) return nothing;
    const origin = request.headers.get('origin');
    if (!isAllowed(origin)) return varies;
    return {
      ...varies,
      'access-control-allow-origin': origin,
      'access-control-expose-headers': 'location, retry-after, x-request-id',
      ...(cors.credentials && { 'access-control-allow-credentials': 'true' }),
    };
  };

  return {
    headersFor,
    check(request) {
      if (!isCrossSite(request, origins)) return;
      throw new ApiRefusal(
        'cross_site',
        'Requests from other origins are refused. To allow an origin, add it to cors.origins.',
      );
    },
    preflight(request, allow) {
      const headers = headersFor(request);
      const asked = request.headers.get('access-control-request-headers') ?? '';
      if (!('access-control-allow-origin' in headers)) return headers;
      return {
        ...headers,
        'access-control-allow-methods': allow,
        ...(HEADER_NAMES.test(asked) && { 'access-control-allow-headers': asked }),
        'access-control-max-age': '600',
      };
    },
  };
}
