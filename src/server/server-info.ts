import type { AnyAgent } from '../agent/agent.ts';
import { whole } from '../errors/agent-error.ts';
import { defaultRedactor } from '../errors/redactor.ts';
import type { AgentEntry } from './agent-entry.ts';
import type { AgentInfo, ServerInfo } from './api.ts';
import { version } from './version.ts';

/** Bytes of a message that are kept for its text. */
const TEXT_BYTES = 65_536;

/** Default maximum bytes of a body with a message, which may have images and files. */
const MESSAGE_BYTES = 3_500_000;

/** Returns the maximum bytes of a body with a message. A limit for all bodies holds for messages too. */
export const messageLimit = ({
  maxBodyBytes,
  maxMessageBytes = maxBodyBytes ?? MESSAGE_BYTES,
}: {
  readonly maxBodyBytes?: number;
  readonly maxMessageBytes?: number;
}): number => whole('maxMessageBytes', maxMessageBytes);

/** Creates the part of `/info` that does not depend on the request, once. */
export function serverInfo(options: {
  readonly name?: string;
  readonly store?: string;
  readonly agents?: readonly (AnyAgent | AgentEntry)[];
  readonly maxBodyBytes?: number;
  readonly maxMessageBytes?: number;
}): Omit<ServerInfo, 'owner' | 'isOperator'> {
  const { name = 'onward', store = null, agents = [] } = options;
  const maxAttachmentBytes = Math.floor(((messageLimit(options) - TEXT_BYTES) * 3) / 4);
  return defaultRedactor.value({
    name,
    version,
    store,
    maxAttachmentBytes: Math.max(0, maxAttachmentBytes),
    agents: agents.map(agentInfo),
  });
}

function agentInfo(given: AnyAgent | AgentEntry): AgentInfo {
  const entry: AgentEntry = 'agent' in given ? given : { agent: given };
  const { name, driver, tools, limits } = entry.agent.describe();
  return {
    name,
    title: entry.title ?? name,
    description: entry.description ?? '',
    model: entry.model ?? driver,
    isDemo: entry.isDemo ?? false,
    tools: tools.map(({ name: tool, description, needsApproval }) => ({
      name: tool,
      description,
      needsApproval,
    })),
    limits,
    suggestions: entry.suggestions ?? [],
  };
}
