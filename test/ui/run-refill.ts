import type { Refill } from 'onward/broadcasting';
import type { ModelRun } from './run-model.ts';

/** What a server answers to a client that knows everything up to `after`. */
export function refillOf(
  { logs }: ModelRun,
  executionId: string,
  after: number,
  limit: number = 500,
): Refill {
  const log = logs.get(executionId) ?? { envelopes: [], seq: 0 };
  const all = log.envelopes.filter(({ seq }) => (seq ?? 0) > after);
  const envelopes = all.slice(0, limit);
  const more = envelopes.length < all.length;
  return {
    session_id: 's1',
    execution_id: executionId,
    envelopes,
    seq: more ? (envelopes.at(-1)?.seq ?? after) : log.seq,
    more,
  };
}
