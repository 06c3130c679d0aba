/**
 * Returns a response whose failing stream calls `broken`, which must close the connection. The adapter would print
 * the raw error, and end a response that failed at its first chunk as if it were complete.
 */
export function guarded(response: Response, broken: (error: unknown) => void): Response {
  if (!response.body || isWhole(response.headers)) return response;
  const reader = response.body.getReader();
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const { done, value } = await reader.read();
          if (done) controller.close();
          else controller.enqueue(value);
        } catch (error) {
          broken(error);
          controller.close();
        }
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  );
  return new Response(body, response);
}

/**
 * Whether the body is a single chunk, so that it cannot fail halfway. A quick check, because every response needs it.
 */
const isWhole = (headers: Headers): boolean =>
  headers.has('content-length') ||
  headers.get('content-type')?.startsWith('application/json') === true;
