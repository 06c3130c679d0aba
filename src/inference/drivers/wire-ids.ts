import type { ToolCall } from '../../messages/tool-call.ts';
import { sha256 } from '../../sha256.ts';

/** Ids that every JSON parser reads. Servers of Chat Completions may put state into their ids. */
const anyId = /^[^\p{Cc}\p{Surrogate}]*$/u;
const mistralId = /^[A-Za-z0-9]{9}$/;
const claudeId = /^[\w-]{1,64}$/;
const openaiId = {
  chat: /^[^\p{Cc}\p{Surrogate}]{1,40}$/u,
  responses: /^[^\p{Cc}\p{Surrogate}]{1,64}$/u,
};

/** Returns the ids that a provider accepts; any other one fails the request and each later one of the session. */
export function acceptedIds(provider: string, model: string = ''): RegExp {
  if (/mistral/.test(provider) || mistral.test(model)) return mistralId;
  if (/anthropic|bedrock/.test(provider) || claude.test(model)) return claudeId;
  if (/^(?:openai|azure)\b.*responses/.test(provider)) return openaiId.responses;
  return /^(?:openai|azure)\b.*chat/.test(provider) ? openaiId.chat : anyId;
}

const mistral = /\b(?:codestral|devstral|magistral|ministral|mistral|mixtral)/i;
const claude = /\bclaude\b/i;

/**
 * Returns an id for each call: the provider's own one where the wire accepts it, else ours, else one made from it. Two
 * calls never have the same.
 */
export function wireIds(
  calls: readonly ToolCall[],
  accepted: RegExp = anyId,
): ReadonlyMap<string, string> {
  const ids = new Map<string, string>();
  const used = new Set<string>();
  for (const { id, providerId = id } of calls) {
    const isFree = (wire: string): boolean => accepted.test(wire) && !used.has(wire);
    const wire = [providerId, id].find(isFree) ?? made(id).find(isFree) ?? id;
    used.add(wire);
    ids.set(id, wire);
  }
  return ids;
}

/** Returns ids made from an id, the same in every request. */
function made(id: string): readonly string[] {
  const hash = sha256(id);
  return [`call_${hash.slice(0, 24)}`, hash.slice(0, 9), hash.slice(9, 18)];
}

/**
 * Returns a tool name that providers accept: a model may have invented one, and every later request repeats it. Packages
 * of the AI SDK look names up in plain objects, where `constructor` and the like give no name.
 */
export function wireName(name: string): string {
  if (name in Object.prototype) return `${name}_`;
  return /^[\w-]{1,64}$/.test(name) ? name : name.replaceAll(/[^\w-]/g, '_').slice(0, 64) || '_';
}
