import type { ToolCall } from '../../messages/tool-call.ts';

/** The provider's own ids, unless it gave one id to two calls. */
export function wireIds(calls: readonly ToolCall[]): ReadonlyMap<string, string> {
  const given = calls.map(({ id, providerId }) => providerId ?? id);
  return new Map(
    calls.map(({ id }, i) => {
      const wire = given[i] ?? id;
      return [id, given.indexOf(wire) === i ? wire : id];
    }),
  );
}
