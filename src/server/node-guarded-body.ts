/**
 * The same answer, whose stream may fail: `broken` then has to cut off the connection. The adapter would print the error
 * as it is, and end an answer that failed at its first piece as if it were whole.
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

/** Made of one piece, so there is nothing that could fail half-way; asked of every answer, so it is a quick look. */
const isWhole = (headers: Headers): boolean =>
  headers.has('content-length') ||
  headers.get('content-type')?.startsWith('application/json') === true;
