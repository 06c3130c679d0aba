import { ErrorPolicy } from '../errors/error-policy.ts';

export type PolicyName =
  | 'production'
  | 'stopOnAnyError'
  | 'retryToolErrors'
  | 'ignoreToolErrors'
  | 'retryAll';

/** The error policies that a command or a request may name. */
export const namedPolicies: Readonly<Record<PolicyName, () => ErrorPolicy>> = {
  production: ErrorPolicy.production,
  stopOnAnyError: ErrorPolicy.stopOnAnyError,
  retryToolErrors: () => ErrorPolicy.retryToolErrors(),
  ignoreToolErrors: ErrorPolicy.ignoreToolErrors,
  retryAll: () => ErrorPolicy.retryAll(),
};

export const policyNames: readonly PolicyName[] = Object.keys(namedPolicies) as PolicyName[]; // its only keys
