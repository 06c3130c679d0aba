import type { ToolCall } from '../../messages/tool-call.ts';

/** Returns the provider's own ids, unless it used one id for two calls, or one that not every JSON parser accepts. */
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

/** Returns a tool name that providers accept: a model may have invented one, and every later request repeats it. */
export const wireName = (name: string): string =>
  /^[\w-]{1,64}$/.test(name) ? name : name.replaceAll(/[^\w-]/g, '_').slice(0, 64) || '_';
