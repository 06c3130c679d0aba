import type { JsonSchema } from '../../tools/schema.ts';
import { count, flag, list, number, object, orNull, ref, text, time } from './shapes.ts';

const outcomes = { finished: count, limited: count, failed: count, cancelled: count };
const times = { p50: orNull(number), p95: orNull(number) };

/** Schemas of the routes for all sessions together. */
export const overviewSchemas: Readonly<Record<string, JsonSchema>> = {
  AttentionCounts: object({ gaveUp: count, stuck: count, failed: count, waiting: count }),
  RunStatistics: object({
    ...outcomes,
    ...times,
    cost: number,
    buckets: list(object({ at: time, ...outcomes, cost: number, steps: count, ...times })),
    tools: list(object({ tool: text, calls: count, failed: count })),
    models: list(object({ model: text, cost: number })),
  }),
  Overview: object({
    attention: ref('AttentionCounts'),
    range: ref('RunStatistics'),
    days: ref('RunStatistics'),
    isTruncated: flag,
  }),
  BulkResult: object({
    done: list(text),
    skipped: list(object({ id: text, code: text, message: text })),
  }),
};
