import type { Socket } from 'node:net';

/** A request with its raw bytes. */
export interface RawRequest {
  readonly method: string;
  /** The request target with its query. */
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly head: string;
  readonly body: Buffer;
  /** Size of the whole request: line, headers and body. */
  readonly bytes: number;
}

const END = '\r\n\r\n';

/**
 * Reads one request. Null if it is too large or the sender disconnects. Like Reverb, it does not support chunked
 * bodies.
 */
export function readRequest(
  socket: Socket,
  maxBytes: number,
): Promise<RawRequest | 'too large' | null> {
  return new Promise((resolve) => {
    let bytes = Buffer.alloc(0);
    const finish = (request: RawRequest | 'too large' | null): void => {
      socket.off('data', take).off('close', left);
      resolve(request);
    };
    const left = (): void => finish(null);
    const take = (piece: Buffer): void => {
      bytes = Buffer.concat([bytes, piece]);
      if (bytes.length > maxBytes) return finish('too large');
      const end = bytes.indexOf(END);
      if (end === -1) return;
      const request = parsed(bytes.subarray(0, end).toString('latin1'), bytes, end + END.length);
      const length = Number(request.headers['content-length'] ?? 0);
      if (request.body.length >= length) finish(request);
    };
    socket.on('data', take).on('close', left);
  });
}

function parsed(head: string, bytes: Buffer, start: number): RawRequest {
  const [line = '', ...lines] = head.split('\r\n');
  const [method = '', target = ''] = line.split(' ');
  const headers = Object.fromEntries(
    lines.map((text) => {
      const colon = text.indexOf(':');
      return [text.slice(0, colon).toLowerCase(), text.slice(colon + 1).trim()];
    }),
  );
  return { method, target, headers, head, body: bytes.subarray(start), bytes: bytes.length };
}

export interface RawAnswer {
  readonly status: number;
  readonly body: string;
  readonly headers?: Readonly<Record<string, string>>;
}

const reasons: Readonly<Record<number, string>> = {
  200: 'OK',
  301: 'Moved Permanently',
  400: 'Bad Request',
  401: 'Unauthorized',
  404: 'Not Found',
  405: 'Method Not Allowed',
  413: 'Payload Too Large',
  422: 'Unprocessable Content',
  429: 'Too Many Requests',
  500: 'Internal Server Error',
  503: 'Service Unavailable',
};

/** One answer per connection: successes as HTTP/1.0, errors as HTTP/1.1 that end with the connection. */
export function writeAnswer(socket: Socket, { status, body, headers = {} }: RawAnswer): void {
  const version = status < 300 ? 'HTTP/1.0' : 'HTTP/1.1';
  const type = /^[[{]/.test(body) ? 'application/json' : 'text/plain';
  const fields = Object.entries({ 'Content-Type': type, ...headers });
  const head = fields.map(([name, value]) => `${name}: ${value}\r\n`).join('');
  socket.end(`${version} ${status} ${reasons[status] ?? 'Unknown'}\r\n${head}\r\n${body}`);
}
