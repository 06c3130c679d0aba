import { partsOf, type AnyAgent } from '../agent/agent.ts';
import { AgentError, show } from '../errors/agent-error.ts';
import { isRecord } from '../json.ts';
import type { AgentEntry } from '../server/agent-entry.ts';
import type { OnwardConfig } from './config.ts';

const fields: Readonly<Record<keyof OnwardConfig, true>> = {
  name: true,
  agents: true,
  store: true,
  port: true,
  owner: true,
  tokens: true,
  pusher: true,
  deps: true,
  lease: true,
};

/** Refuses a config that could not work, naming the file, the field, what it is and what would do. */
export function checkedConfig(value: unknown, file: string): OnwardConfig {
  const wrong = (field: string, seen: unknown, expected: string): AgentError =>
    new AgentError('invalid_option', `${file}: ${field} is ${show(seen)}, expected ${expected}.`, {
      details: { file, field, expected },
    });
  if (!isRecord(value)) throw wrong('the default export', value, 'defineConfig({ agents: [...] })');
  for (const field of Object.keys(value))
    if (!Object.hasOwn(fields, field))
      throw wrong(field, value[field], `one of these fields: ${Object.keys(fields).join(', ')}`);
  const { name, agents, store, port, owner, tokens, pusher, deps, lease } = value;
  if (!Array.isArray(agents) || agents.length === 0)
    throw wrong('agents', agents, 'a list with at least one agent');
  const names = new Set<string>();
  for (const [i, entry] of agents.entries()) {
    const agent = agentIn(entry, (seen, expected) => wrong(`agents[${i}]`, seen, expected));
    if (names.has(agent.name))
      throw wrong(`agents[${i}]`, agent.name, 'another name for each agent: withName(...)');
    names.add(agent.name);
  }
  if (name !== undefined && !isText(name)) throw wrong('name', name, 'a text');
  if (store !== undefined && !isText(store) && !isStore(store))
    throw wrong('store', store, 'a path of a SQLite file, or a store such as postgresStore(...)');
  if (port !== undefined && !isPort(port)) throw wrong('port', port, 'a number from 0 to 65535');
  if (owner !== undefined && !isText(owner)) throw wrong('owner', owner, 'a text');
  if (tokens !== undefined && !(isRecord(tokens) && Object.values(tokens).every(isText)))
    throw wrong('tokens', tokens, 'an object from token to owner');
  if (
    pusher !== undefined &&
    !(isRecord(pusher) && isText(pusher['key']) && isText(pusher['secret']))
  )
    throw wrong('pusher', pusher, '{ key, secret }');
  if (deps !== undefined && typeof deps !== 'function' && !isRecord(deps))
    throw wrong('deps', deps, 'an object, or a function that makes one');
  if (lease !== undefined && !isRecord(lease))
    throw wrong('lease', lease, '{ leaseMs?, heartbeatMs?, signalMs? }');
  return value as unknown as OnwardConfig; // every field was looked at
}

type Wrong = (seen: unknown, expected: string) => AgentError;

function agentIn(entry: unknown, wrong: Wrong): AnyAgent {
  const agent = isRecord(entry) && 'agent' in entry ? entry['agent'] : entry;
  if (!isAgentShape(agent))
    throw wrong(entry, 'what createAgent() or build() returns, or { agent, title?, ... } with it');
  if (partsOf(agent) === undefined)
    throw wrong(
      agent.name,
      'an agent of the same copy of onward as this command. Two are installed: run the one of the project with ' +
        '`npx onward`, and look for the other with `npm ls onward`',
    );
  return agent;
}

const isAgentShape = (value: unknown): value is AnyAgent =>
  isRecord(value) && typeof value['run'] === 'function' && typeof value['describe'] === 'function';

const isText = (value: unknown): value is string => typeof value === 'string' && value !== '';

const isStore = (value: unknown): boolean =>
  isRecord(value) && typeof value['claim'] === 'function' && typeof value['commit'] === 'function';

const isPort = (value: unknown): boolean =>
  Number.isInteger(value) && Number(value) >= 0 && Number(value) <= 65_535;

/** Every agent with what people should read about it. */
export const entriesOf = ({ agents }: Pick<OnwardConfig, 'agents'>): readonly AgentEntry[] =>
  agents.map((given) => ('agent' in given ? given : { agent: given }));
