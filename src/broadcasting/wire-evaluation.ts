import type { ContinuationEvaluation } from '../continuation/evaluation.ts';
import type { JsonValue } from '../json.ts';
import type { WireEvaluation } from './envelope.ts';

/** Converts an evaluation to the names of the wire. */
export const wireEvaluation = ({
  criterion,
  decision,
  reason,
  context,
  remedy,
}: ContinuationEvaluation): WireEvaluation => ({
  criterion,
  decision,
  reason,
  context: context as JsonValue, // events are JSON
  remedy: remedy ?? null,
});
