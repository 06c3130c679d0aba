import type { AgentDefinition } from './agent-options.ts';
import type { AnyCapability } from './hooks.ts';
import { definitionOf } from './nested-agent.ts';

/** How many runtimes use a capability. */
const holders = new WeakMap<AnyCapability, number>();

/** Closes the connections of an agent and its nested agents. A later run opens them again. */
export async function closeCapabilities(definition: AgentDefinition): Promise<void> {
  await closeAll([...closableOf(definition)]);
}

/** Keeps the connections of an agent for a runtime. The returned function closes those that no other runtime keeps. */
export function holdCapabilities(definition: AgentDefinition): () => Promise<void> {
  const held = closableOf(definition);
  for (const capability of held) holders.set(capability, (holders.get(capability) ?? 0) + 1);
  return async () => {
    const last = [...held].filter((capability) => {
      const left = (holders.get(capability) ?? 1) - 1;
      holders.set(capability, left);
      return left === 0;
    });
    held.clear();
    await closeAll(last);
  };
}

/** Closes all, also if one fails; then rejects with the first error. */
async function closeAll(capabilities: readonly AnyCapability[]): Promise<void> {
  const closing = capabilities.map(async (capability) => capability.close?.());
  for (const result of await Promise.allSettled(closing))
    if (result.status === 'rejected') throw result.reason;
}

function closableOf(definition: AgentDefinition): Set<AnyCapability> {
  const found = new Set(definition.closable);
  for (const tool of definition.tools.values())
    if (tool.agent !== undefined)
      for (const capability of closableOf(definitionOf(tool))) found.add(capability);
  return found;
}
