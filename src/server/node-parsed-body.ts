import type { IncomingMessage } from 'node:http';
import { AgentError } from '../errors/agent-error.ts';

/** A request after a body parser of Express; the adapter reads `rawBody` for bytes that are already read. */
interface ParsedMessage extends IncomingMessage {
  readonly body?: unknown;
  rawBody?: unknown;
}

/**
 * Restores the bytes of a body that a parser has read. Returns the error if it cannot: otherwise a handler would wait
 * for a stream that has ended.
 */
export function restoreParsedBody(req: ParsedMessage): AgentError | null {
  if (!req.readableDidRead || req.method === 'GET' || req.method === 'HEAD') return null;
  if (Buffer.isBuffer(req.rawBody)) return null;
  const text = bodyText(req.body, req.headers['content-type'] ?? '');
  if (text === null) return alreadyRead();
  req.rawBody = Buffer.isBuffer(text) ? text : Buffer.from(text);
  return null;
}

function bodyText(body: unknown, type: string): string | Buffer | null {
  if (typeof body === 'string' || Buffer.isBuffer(body)) return body;
  if (typeof body !== 'object' || body === null) return null;
  if (/^application\/(?:[\w.+-]+\+)?json\b/i.test(type)) return JSON.stringify(body);
  if (!/^application\/x-www-form-urlencoded\b/i.test(type)) return null;
  const pairs = Object.entries(body);
  if (!pairs.every(([, value]) => typeof value === 'string')) return null;
  return new URLSearchParams(pairs as [string, string][]).toString();
}

const alreadyRead = (): AgentError =>
  new AgentError(
    'invalid_option',
    'A middleware has read the body of this request and did not keep it, expected an unread body. ' +
      'Mount nodeListener(…) before body parsers, or let them store JSON in req.body.',
  );
