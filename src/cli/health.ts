import { inTime } from '../sessions/in-time.ts';
import type { SessionStore } from '../sessions/session-store.ts';

/** Milliseconds in which the store has to answer. */
const DEADLINE_MS = 2_000;
/** Milliseconds for which an answer of the store counts: these paths are open to everyone. */
const FRESH_MS = 1_000;

/** Answers the probes of load balancers and process managers, without sign-in and without data of owners. */
export interface Health {
  /** Answers `/healthz` and `/readyz`; null for any other path. */
  answer(request: Request): Promise<Response> | null;
  readonly isDraining: boolean;
  /** From now on the process is not ready. */
  drain(): void;
}

/** The process is ready while the store answers in time and it does not drain. */
export function healthOf(
  store: Pick<SessionStore, 'find'>,
  deadlineMs: number = DEADLINE_MS,
): Health {
  let isDraining = false;
  let last = { isAnswering: false, at: Number.NEGATIVE_INFINITY };
  /** One question at a time, however many probes come. */
  let asking: Promise<boolean> | null = null;
  const ask = async (): Promise<boolean> => {
    const isAnswering = await store.find('readyz').then(
      () => true,
      () => false,
    );
    last = { isAnswering, at: performance.now() };
    asking = null;
    return isAnswering;
  };
  const isStoreAnswering = async (): Promise<boolean> => {
    if (performance.now() - last.at < FRESH_MS) return last.isAnswering;
    asking ??= ask();
    return inTime(asking, deadlineMs, () => new Error('late')).catch(() => false);
  };
  const readiness = async (): Promise<Response> => {
    if (isDraining) return unavailable('draining');
    return (await isStoreAnswering()) ? status(200, { status: 'ready' }) : unavailable('store');
  };
  return {
    answer(request) {
      const { pathname } = new URL(request.url);
      if (pathname !== '/healthz' && pathname !== '/readyz') return null;
      if (request.method !== 'GET' && request.method !== 'HEAD')
        return Promise.resolve(
          new Response(null, { status: 405, headers: { allow: 'GET, HEAD' } }),
        );
      return pathname === '/readyz' ? readiness() : Promise.resolve(status(200, { status: 'ok' }));
    },
    get isDraining() {
      return isDraining;
    },
    drain() {
      isDraining = true;
    },
  };
}

const reasons = {
  draining: 'The process is shutting down.',
  store: 'The session store does not answer.',
} as const;

const unavailable = (code: keyof typeof reasons): Response =>
  status(503, { status: 'unavailable', code, reason: reasons[code] });

const status = (code: number, body: object): Response =>
  Response.json(body, {
    status: code,
    headers: { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' },
  });
