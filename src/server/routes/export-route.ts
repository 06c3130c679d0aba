import { onDemand } from '../../on-demand.ts';
import type { SessionRuntime } from '../../sessions/session-runtime.ts';
import { route, type Route } from '../route.ts';

/** Media type of an export: one JSON object per line. */
const JSON_LINES = 'application/x-ndjson';

/** Creates the route that exports a session, redacted, as it is read. */
export const exportRoute = (runtime: SessionRuntime): Route =>
  route({
    method: 'GET',
    path: '/sessions/{id}/export',
    name: 'exportSession',
    summary: 'Exports the whole session without secrets, one JSON object per line.',
    answer: {
      status: 200,
      about: 'The records of the export, from its header to its end.',
      schema: null,
      contentType: JSON_LINES,
    },
    async handle({ owner, id }) {
      const { exportLine, exportSession } = await onDemand(import('../../exports/index.ts'));
      const records = exportSession(runtime, id, { owner });
      // a session that is not found is refused before the answer begins
      const first = await records.next();
      const encoder = new TextEncoder();
      let next: Promise<typeof first> = Promise.resolve(first);
      const body = new ReadableStream<Uint8Array>(
        {
          async pull(controller) {
            const { value, done } = await next;
            if (done) return controller.close();
            next = records.next();
            // an error is thrown by the next pull, which ends the answer before its last line
            next.catch(() => {});
            controller.enqueue(encoder.encode(exportLine(value)));
          },
          async cancel() {
            await records.return();
          },
        },
        { highWaterMark: 0 },
      );
      return new Response(body, {
        headers: {
          'content-type': JSON_LINES,
          'cache-control': 'no-store',
          'content-disposition': 'attachment; filename="session.jsonl"',
          'x-content-type-options': 'nosniff',
        },
      });
    },
  });
