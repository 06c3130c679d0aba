import { useSyncExternalStore } from 'react';

/** Pages beside the sessions, by their address. Which of them exist is in `pages.ts`. */
export const pageNames = [
  'overview',
  'sessions',
  'evals',
  'what-if',
  'workers',
  'compare',
] as const;
export type PageName = (typeof pageNames)[number];

/** A page, such as `#/sessions?status=failed` or `#/evals/run-41`. */
export interface PageRoute {
  readonly view: 'page';
  readonly page: PageName;
  /** Segments after the name. */
  readonly path: readonly string[];
  /** Text after `?`, which the page reads with `URLSearchParams`. */
  readonly query: string;
}

/** The current view: the part of the address after `#`. */
export type Route =
  | PageRoute
  /** All sessions; on a wide window with a new one next to them. */
  | { readonly view: 'home' }
  | { readonly view: 'new' }
  | { readonly view: 'chat'; readonly sessionId: string }
  | {
      readonly view: 'trace';
      readonly sessionId: string;
      /** Selected step; null follows the newest. */
      readonly step: number | null;
      /** Selected execution; null is the newest. */
      readonly execution: string | null;
      /** The agent behind this call is shown; absent for the session's own. `step` is then its own. */
      readonly call?: OpenCall;
      /** Selected tab of the step; absent: chosen by what the step did. */
      readonly tab?: StepTab;
    };

/** Tabs of a step. */
export const stepTabs = ['decision', 'model', 'tools', 'raw'] as const;
export type StepTab = (typeof stepTabs)[number];

/** A call that ran an agent, and the step of the session's own agent in which it is. */
export interface OpenCall {
  readonly callId: string;
  readonly step: number;
}

export function parseRoute(hash: string): Route {
  const [path = '', query = ''] = hash.replace(/^#/, '').split('?');
  const [, first, id, third, fourth] = path.split('/');
  if (first === 'new') return { view: 'new' };
  const page = pageNames.find((name) => name === first);
  if (page !== undefined)
    return { view: 'page', page, path: path.split('/').slice(2).flatMap(segment), query };
  const sessionId = first === 's' && id ? decoded(id) : null;
  if (sessionId === null) return { view: 'home' };
  if (third !== 'trace') return { view: 'chat', sessionId };
  const step = fourth !== undefined && /^\d+$/.test(fourth) ? Number(fourth) : null;
  const params = new URLSearchParams(query);
  const call = callIn(params);
  const tab = stepTabs.find((name) => name === params.get('tab'));
  return {
    view: 'trace',
    sessionId,
    step,
    execution: params.get('execution'),
    ...(call && { call }),
    ...(tab && { tab }),
  };
}

function callIn(params: URLSearchParams): OpenCall | null {
  const callId = params.get('call');
  const step = params.get('in') ?? '';
  return callId && /^[1-9]\d{0,8}$/.test(step) ? { callId, step: Number(step) } : null;
}

export function hrefOf(route: Route): string {
  if (route.view === 'home') return '#/';
  if (route.view === 'new') return '#/new';
  if (route.view === 'page') return pageHref(route.page, route);
  const session = `#/s/${encodeURIComponent(route.sessionId)}`;
  if (route.view === 'chat') return session;
  const { step, execution, call, tab } = route;
  const query = [
    execution === null ? '' : `execution=${encodeURIComponent(execution)}`,
    call ? `call=${encodeURIComponent(call.callId)}&in=${call.step}` : '',
    tab ? `tab=${tab}` : '',
  ].filter(Boolean);
  return `${session}/trace${step === null ? '' : `/${step}`}${query.length > 0 ? `?${query.join('&')}` : ''}`;
}

/** Returns the address of a page. Parameters without a value are left out. */
export function pageHref(
  page: PageName,
  at: {
    readonly path?: readonly string[];
    readonly query?: string | Readonly<Record<string, string | number | null | undefined>>;
  } = {},
): string {
  const { path = [], query = '' } = at;
  const text = typeof query === 'string' ? query : queryText(query);
  return `#/${[page, ...path.map(encodeURIComponent)].join('/')}${text && `?${text}`}`;
}

function queryText(query: Readonly<Record<string, string | number | null | undefined>>): string {
  const params = new URLSearchParams();
  for (const [name, value] of Object.entries(query))
    if (value !== null && value !== undefined && value !== '') params.set(name, String(value));
  return params.toString();
}

export const chatHref = (sessionId: string): string => hrefOf({ view: 'chat', sessionId });
export const traceHref = (
  sessionId: string,
  step: number | null = null,
  execution: string | null = null,
  call: OpenCall | null = null,
): string => hrefOf({ view: 'trace', sessionId, step, execution, ...(call && { call }) });

/** `replace` skips the history entry, for example from step to step. */
export function go(href: string, how: 'push' | 'replace' = 'push'): void {
  if (how === 'push') location.hash = href;
  else location.replace(href);
}

const subscribe = (changed: () => void): (() => void) => {
  addEventListener('hashchange', changed);
  return () => removeEventListener('hashchange', changed);
};

export const useHash = (): string => useSyncExternalStore(subscribe, () => location.hash);

const segment = (text: string): readonly string[] => {
  const value = decoded(text);
  return value === null || value === '' ? [] : [value];
};

function decoded(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}
