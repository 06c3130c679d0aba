import type { IncomingMessage, ServerResponse } from 'node:http';
import { getRequestListener } from '@hono/node-server';
import { reportFault } from './node-fault.ts';
import { guarded } from './node-guarded-body.ts';
import { restoreParsedBody } from './node-parsed-body.ts';

/** A Fetch handler: `agentServer`, or a handler of Hono, Next and others. */
export type FetchHandler = (request: Request) => Response | Promise<Response>;

export interface NodeListenerOptions {
  /** Called with what the handler threw; the client learns only that it failed. Default: one line on the console. */
  readonly onError?: (error: unknown) => void;
}

/** The original URL in Express, also if `url` lacks the prefix of a mount. */
type MountedMessage = IncomingMessage & { readonly originalUrl?: string };

/** Creates a listener of `node:http` or Express from a Fetch handler. It never calls `next`. */
export function nodeListener(
  fetch: FetchHandler,
  options: NodeListenerOptions = {},
): (req: IncomingMessage, res: ServerResponse) => void {
  const onError = options.onError ?? reportFault;
  const report = (error: unknown): void => {
    try {
      onError(error);
    } catch {
      // an error listener must not cause more errors
    }
  };
  const listener = getRequestListener(
    async (light, { outgoing }) => {
      const request = wholeRequest(light);
      const fault = (error: unknown): void => {
        // otherwise the client is gone, which caused the failure
        if (!request.signal.aborted) report(error);
      };
      try {
        return guarded(await fetch(request), (error) => {
          fault(error);
          outgoing.destroy();
        });
      } catch (error) {
        fault(error);
        return failed(
          500,
          'internal_error',
          'The server failed to respond. Its log has the details.',
        );
      }
    },
    {
      overrideGlobalObjects: false,
      errorHandler: () => failed(400, 'invalid_request', 'The request has no valid URL or method.'),
    },
  );
  return (req: MountedMessage, res) => {
    const { url = '/' } = req;
    const problem = restoreParsedBody(req);
    if (problem) {
      report(problem);
      const { message } = problem;
      res.writeHead(500, { 'content-type': 'application/json' });
      res.end(JSON.stringify({ error: { code: 'body_already_read', message } }));
      return;
    }
    // the listener reads the URL before it returns
    if (req.originalUrl !== undefined) req.url = req.originalUrl;
    listener(req, res).catch(report);
    req.url = url;
  };
}

/**
 * Creates a real Request. The adapter's object only looks like one, so handlers that copy it with `new Request(it)`
 * would fail.
 */
function wholeRequest(light: Request): Request {
  const { url, method, headers, signal } = light;
  if (method === 'GET' || method === 'HEAD') return new Request(url, { method, headers, signal });
  const init = { method, headers, signal, body: light.body, duplex: 'half' };
  return new Request(url, init);
}

const failed = (status: number, code: string, message: string): Response =>
  Response.json({ error: { code, message } }, { status });
