import { SpanStatusCode, type Attributes, type Span } from '@opentelemetry/api';
import { visibleText } from '../visible-text.ts';

/** Most characters of a foreign word, such as the name of a model that answered. */
const MAX_WORD = 200;

/** A word from a model or a provider, safe for an attribute. */
export const word = (text: unknown, most: number = MAX_WORD): string =>
  visibleText(String(text).slice(0, most));

/** Does what only telemetry needs: its failure never changes a run. Returns null where it failed. */
export function safely<T>(work: () => T): T | null {
  try {
    return work();
  } catch {
    return null; // what could not be written is missing
  }
}

/** Marks a span as failed. The message may quote content, so that it is null unless content is captured. */
export function fail(span: Span, type: string, message: string | null): void {
  span.setAttribute('error.type', word(type));
  span.setStatus({ code: SpanStatusCode.ERROR, ...(message !== null && { message }) });
}

/** Attributes without those that are undefined or null. */
export function present(given: Readonly<Record<string, Attributes[string] | null>>): Attributes {
  const attributes: Attributes = {};
  for (const [name, value] of Object.entries(given))
    if (value !== undefined && value !== null) attributes[name] = value;
  return attributes;
}
