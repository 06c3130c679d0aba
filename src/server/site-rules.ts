import { checkedOrigins, isCrossSite } from '../broadcasting/cross-site.ts';
import { ApiRefusal } from './refusal.ts';

/** Pages of other origins that may use the API. */
export interface Cors {
  /** Exactly as browsers send them, such as `https://app.example.com`. */
  readonly origins: readonly string[];
  /** Lets those pages send cookies. */
  readonly credentials?: boolean;
}

type HeaderRecord = Readonly<Record<string, string>>;

export interface SiteRules {
  /** For every answer to this request. */
  headersFor(request: Request): HeaderRecord;
  /** Refuses to change anything because a page of another site said so: cookies would go along with that. */
  check(request: Request): void;
  /** What OPTIONS says besides `allow`. */
  preflight(request: Request, allow: string): HeaderRecord;
}

const HEADER_NAMES = /^[\w-]{1,64}(?: *, *[\w-]{1,64}){0,31}$/;
const nothing: HeaderRecord = {};

export function siteRules(cors: Cors | null): SiteRules {
  const origins = checkedOrigins('cors.origins', cors?.origins ?? []);
  const isFriend = (origin: string | null): origin is string =>
    origin !== null && origins.has(origin);
  const varies: HeaderRecord = cors ? { vary: 'origin' } : nothing;

  const headersFor = (request: Request): HeaderRecord => {
    if (!cors) return nothing;
    const origin = request.headers.get('origin');
    if (!isFriend(origin)) return varies;
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
        'A page of another site may not change anything here. To let its origin in, name it in cors.origins.',
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
