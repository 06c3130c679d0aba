import { invalidOption } from '../errors/agent-error.ts';
import { isRecord } from '../json.ts';
import { checkedOwner } from '../sessions/check-names.ts';
import { isResponse } from './answers.ts';
import { ApiRefusal, internalFault } from './refusal.ts';
import type { Reporter } from './report-error.ts';

/** An operator, by name. */
interface Operator {
  readonly by: string;
}

/**
 * Returns the operator who makes a request, null for any other client (403), or your own response. It reads headers,
 * never the body.
 */
export type AdminHook = (
  request: Request,
) => Operator | Response | null | Promise<Operator | Response | null>;

export interface AdminGate {
  /** Returns the name of the operator, or the response of the hook; refuses everyone else. */
  enter(request: Request, requestId: string): Promise<string | Response>;
  /** Whether the request is of an operator. */
  isOperator(request: Request): Promise<boolean>;
}

export function adminGate(hook: AdminHook, { report }: Reporter): AdminGate {
  if (typeof hook !== 'function')
    throw invalidOption(
      'agentServer admin',
      hook,
      'a function that returns the operator of a request',
    );
  return {
    async enter(request, requestId) {
      let found: string | Response | null;
      try {
        found = operatorOf(await hook(request));
        if (request.bodyUsed && !isResponse(found)) throw bodyTaken();
      } catch (error) {
        report(error, request);
        throw internalFault(requestId);
      }
      if (found === null) throw new ApiRefusal('forbidden', 'This path is for operators.');
      return found;
    },
    async isOperator(request) {
      try {
        return typeof operatorOf(await hook(request)) === 'string';
      } catch (error) {
        report(error, request);
        return false;
      }
    },
  };
}

/** An owner's id is not accepted: a hook that admits users must not admit them as operators. */
function operatorOf(found: unknown): string | Response | null {
  if (isResponse(found)) return found;
  if (found === null || found === undefined || found === false) return null;
  if (isRecord(found) && typeof found['by'] === 'string') return checkedOwner(found['by']);
  throw invalidOption(
    'the result of agentServer admin',
    typeof found,
    '{ by } with the name of the operator, or null',
  );
}

const bodyTaken = (): Error =>
  new Error('The admin hook has read the body of the request. Read only headers in it.');
