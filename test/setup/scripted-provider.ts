import type { ModelInput } from 'onward';
import type { Said, Wire } from './provider-wires.ts';
import type { WireOptions } from './wire.ts';

/** A provider that answers from a script, then always `next`, and rejects what a real one would reject. */
export class ScriptedProvider {
  readonly model: ModelInput;
  /** Why requests were rejected. */
  readonly problems: string[] = [];
  readonly bodies: Record<string, unknown>[] = [];
  /** Paths of the requests, with their query. */
  readonly paths: string[] = [];
  /** Resolves when an answer hangs. */
  readonly hanging: Promise<void>;
  readonly #wire: Wire;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #script: Said[];
  readonly #stored: Set<string> = new Set();
  #hangs: () => void = () => {};

  constructor(
    wire: Wire,
    script: readonly Said[],
    {
      options,
      headers = {},
    }: { readonly options?: WireOptions; readonly headers?: Record<string, string> } = {},
  ) {
    this.#wire = wire;
    this.#headers = headers;
    this.#script = [...script];
    this.hanging = new Promise((resolve) => (this.#hangs = resolve));
    this.model = wire.model((input, init) => this.#answer(new Request(input).url, init), options);
  }

  async #answer(url: string, init: RequestInit = {}): Promise<Response> {
    const body = JSON.parse(init.body as string) as Record<string, unknown>; // all of these packages send a string
    this.bodies.push(body);
    const { pathname, search } = new URL(url);
    this.paths.push(pathname + search);
    const problem = this.#wire.problem(body, this.#stored);
    if (problem !== null) {
      this.problems.push(problem);
      return refusal(400, problem);
    }
    const said = { ...(this.#script.shift() ?? { text: 'next' }), n: this.bodies.length };
    if (said.status !== undefined) return refusal(said.status, 'The script says so.');
    const isStream = body['stream'] === true || url.includes(':stream');
    const isTruncated = said.hangs === true || said.breaks === true;
    if (!isTruncated) for (const id of this.#wire.stores(said)) this.#stored.add(id);
    if (isStream) return this.#stream(said, isTruncated, init.signal);
    if (!isTruncated) return Response.json(this.#wire.whole(said), { headers: this.#headers });
    if (said.breaks) throw new TypeError('fetch failed');
    this.#hangs();
    return gone(init.signal);
  }

  #stream(
    said: Parameters<Wire['stream']>[0],
    isTruncated: boolean,
    signal: RequestInit['signal'],
  ): Response {
    const [begin, rest] = this.#wire.stream(said);
    const text = (isTruncated ? begin : [...begin, ...rest]).map(event).join('');
    const source = new ReadableStream<Uint8Array>({
      start: (controller) => {
        controller.enqueue(new TextEncoder().encode(text));
        if (!isTruncated) return controller.close();
        if (said.breaks) return void setTimeout(() => controller.error(new Error('terminated')), 5);
        void gone(signal).catch((reason: unknown) => controller.error(reason));
        setTimeout(this.#hangs, 20); // the text has been read by then
      },
    });
    const headers = { 'content-type': 'text/event-stream', ...this.#headers };
    return new Response(source, { headers });
  }
}

/** Rejects when the client disconnects. */
const gone = (signal: RequestInit['signal']): Promise<never> =>
  new Promise((_resolve, reject) => {
    signal?.addEventListener('abort', () => reject(signal.reason as Error));
  });

const event = (data: Record<string, unknown>): string => `data: ${JSON.stringify(data)}\n\n`;

const refusal = (status: number, message: string): Response =>
  Response.json({ error: { type: 'invalid_request_error', message } }, { status });
