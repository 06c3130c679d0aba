import type { OwnerHook } from '../broadcasting/sse/sse-request.ts';
import { invalidOption } from '../errors/agent-error.ts';
import { checkedOwner } from '../sessions/check-names.ts';
import { isResponse } from './answers.ts';
import { ApiRefusal, internalFault } from './refusal.ts';
import type { Reporter } from './report-error.ts';

/** Identifies the owner of a request. */
export interface Gatekeeper {
  /** Returns the owner, or the response of the hook; refuses a client that is not signed in. */
  enter(request: Request, requestId: string): Promise<string | Response>;
  /** Returns the owner of an admitted request. */
  known(request: Request): string | null;
  /** Whether the same request would still be admitted as this owner. */
  isStill(request: Request, owner: string): Promise<boolean>;
}

export function gatekeeper(hook: OwnerHook, { report }: Reporter): Gatekeeper {
  if (typeof hook !== 'function')
    throw invalidOption(
      'agentServer owner',
      hook,
      'a function that returns the owner of a request',
    );
  const inside = new WeakMap<Request, string>();

  /** An error of the hook is a server error, whatever it throws. */
  const ask = async (request: Request): Promise<string | Response | null> => {
    const asking = await hook(request);
    if (isResponse(asking)) return asking;
    return asking === null || asking === undefined || asking === '' ? null : checkedOwner(asking);
  };

  return {
    async enter(request, requestId) {
      let asking: string | Response | null;
      try {
        asking = await ask(request);
        if (request.bodyUsed && !isResponse(asking)) throw bodyTaken();
      } catch (error) {
        report(error, request);
        throw internalFault(requestId);
      }
      if (asking === null)
        throw new ApiRefusal('unauthorized', 'The request is not signed in.', {
          headers: { 'www-authenticate': 'Bearer' },
        });
      if (typeof asking === 'string') inside.set(request, asking);
      return asking;
    },
    known: (request) => inside.get(request) ?? null,
    async isStill(request, owner) {
      try {
        return (await ask(request)) === owner;
      } catch (error) {
        report(error, request);
        return false;
      }
    },
  };
}

const bodyTaken = (): Error =>
  new Error('The owner hook has read the body of the request. Read only headers in it.');
