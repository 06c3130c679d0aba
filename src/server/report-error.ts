import { logStack, logText } from '../errors/log-text.ts';
import type { AgentServerOptions } from './server-options.ts';

/** Reports an error to the operator of the server. A failing reporter changes no response. */
export interface Reporter {
  /** Remembers the id of the response to a request. */
  name(request: Request, requestId: string): void;
  report(error: unknown, request: Request): void;
}

export function reporter(onError: AgentServerOptions['onError'] = log): Reporter {
  const ids = new WeakMap<Request, string>();
  return {
    name: (request, requestId) => void ids.set(request, requestId),
    report(error, request) {
      const requestId = ids.get(request) ?? '';
      try {
        onError(error, request, requestId);
      } catch (failure) {
        log(failure, request, requestId);
      }
    },
  };
}

function log(error: unknown, { method, url }: Request, requestId: string): void {
  const { pathname } = new URL(url);
  const what = logText(`${method} ${pathname} (${requestId})`);
  console.error(`onward server: ${what} failed: ${logStack(error)}`);
}
