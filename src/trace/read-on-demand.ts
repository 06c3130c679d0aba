import { onDemand } from '../on-demand.ts';
import type { compareRuns as Compare } from './compare/read-comparison.ts';
import type { readModelCall as ReadModelCall } from './payloads/read-model-call.ts';
import type { readPayload as ReadPayload } from './payloads/read-payload.ts';
import type { readToolCalls as ReadToolCalls } from './payloads/read-tool-calls.ts';

// What few requests ask for is loaded with the first of them, so that a server without a console does not hold it.

/** Reads the request of one step as the model got it, and its answer, redacted and bounded. */
export const readModelCall: typeof ReadModelCall = async (...given) =>
  (await onDemand(import('./payloads/read-model-call.ts'))).readModelCall(...given);

/** Reads a range of a text that a document of a step shortens. */
export const readPayload: typeof ReadPayload = async (...given) =>
  (await onDemand(import('./payloads/read-payload.ts'))).readPayload(...given);

/** Reads the tool calls of one step with arguments, results, attempts and approvals. */
export const readToolCalls: typeof ReadToolCalls = async (...given) =>
  (await onDemand(import('./payloads/read-tool-calls.ts'))).readToolCalls(...given);

/** Compares two runs of an owner. */
export const compareRuns: typeof Compare = async (...given) =>
  (await onDemand(import('./compare/read-comparison.ts'))).compareRuns(...given);
