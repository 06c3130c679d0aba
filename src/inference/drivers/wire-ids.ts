import type { ToolCall } from '../../messages/tool-call.ts';

/** The provider's own ids, unless it gave one id to two calls, or one that not every JSON reader takes. */
export function wireIds(calls: readonly ToolCall[]): ReadonlyMap<string, string> {
  const given = calls.map(({ id, providerId = id }) =>
    unreadable.test(providerId) ? id : providerId,
  );
  return new Map(
    calls.map(({ id }, i) => {
      const wire = given[i] ?? id;
      return [id, given.indexOf(wire) === i ? wire : id];
    }),
  );
}

const unreadable = /[\p{Cc}\p{Surrogate}]/u;

/** A tool's name as providers take it: a model may have made one up, and every later request repeats it. */
export const wireName = (name: string): string =>
  /^[\w-]{1,64}$/.test(name) ? name : name.replaceAll(/[^\w-]/g, '_').slice(0, 64) || '_';
