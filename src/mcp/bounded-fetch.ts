/** Most bytes that a server may send at once, and per second on a stream that stays open. */
export const MAX_BYTES = 10_000_000;
const BYTES_PER_SECOND = 1_000_000;

export type FetchLike = (url: string | URL, init?: RequestInit) => Promise<Response>;

/**
 * Returns a fetch that ends responses that are too large, and reports the authorization that it sends: what the client
 * package adds is then hidden in errors too.
 */
export const boundedFetch =
  (sent: (authorization: string) => void): FetchLike =>
  async (url, init) => {
    const authorization = new Headers(init?.headers).get('authorization');
    if (authorization !== null) sent(authorization);
    const response = await fetch(url, init);
    const { body, status, statusText, headers } = response;
    if (body === null) return response;
    const bounded = body.pipeThrough(byteLimit());
    // a Response cannot be made with these
    if (status < 200 || status > 599) return response;
    return new Response(bounded, { status, statusText, headers });
  };

/** Lets through a burst and a steady rate; more is an error. */
function byteLimit(): TransformStream<Uint8Array, Uint8Array> {
  let left = MAX_BYTES;
  let at = Date.now();
  return new TransformStream({
    transform(chunk, controller) {
      const now = Date.now();
      left = Math.min(MAX_BYTES, left + ((now - at) / 1000) * BYTES_PER_SECOND) - chunk.byteLength;
      at = now;
      if (left < 0)
        controller.error(new Error(`the server sent more than ${MAX_BYTES / 1e6} MB at once`));
      else controller.enqueue(chunk);
    },
  });
}
