import { partsOf, type AnyAgent } from '../agent/agent.ts';
import { AgentError, show } from '../errors/agent-error.ts';
import { isRecord } from '../json.ts';
import type { AgentEntry } from '../server/agent-entry.ts';
import type { OnwardConfig } from './config.ts';

const fields: Readonly<Record<keyof OnwardConfig, true>> = {
  name: true,
  agents: true,
  store: true,
  queue: true,
  bus: true,
  port: true,
  allowedHosts: true,
  owner: true,
  auth: true,
  tokens: true,
  console: true,
  server: true,
  mcp: true,
  agUi: true,
  pusher: true,
  deps: true,
  lease: true,
};

/** Checks a config; an error names the file, the field, its value and what was expected. */
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
  const { queue, bus, auth, console, server, mcp, agUi, allowedHosts } = value;
  if (!Array.isArray(agents) || agents.length === 0)
    throw wrong('agents', agents, 'a list with at least one agent');
  const names = new Set<string>();
  for (const [i, entry] of agents.entries()) {
    const agent = agentIn(entry, (seen, expected) => wrong(`agents[${i}]`, seen, expected));
    if (names.has(agent.name))
      throw wrong(`agents[${i}]`, agent.name, 'a different name for each agent');
    names.add(agent.name);
  }
  if (name !== undefined && !isText(name)) throw wrong('name', name, 'a text');
  if (store !== undefined && !isText(store) && !hasMethods(store, 'claim', 'commit'))
    throw wrong('store', store, 'the path of a SQLite file, or a store such as postgresStore(...)');
  if (queue !== undefined && typeof queue !== 'function' && !hasMethods(queue, 'start', 'add'))
    throw wrong('queue', queue, 'a queue such as bullQueue(...), or a function that makes one');
  if (bus !== undefined && typeof bus !== 'function' && !hasMethods(bus, 'open'))
    throw wrong('bus', bus, 'a bus such as postgresBus(...), or a function that makes one');
  if (auth !== undefined && typeof auth !== 'function')
    throw wrong('auth', auth, 'a function that returns the owner of a request');
  if (console !== undefined && typeof console !== 'boolean')
    throw wrong('console', console, 'true or false');
  if (mcp !== undefined && typeof mcp !== 'boolean') throw wrong('mcp', mcp, 'true or false');
  if (agUi !== undefined && typeof agUi !== 'boolean') throw wrong('agUi', agUi, 'true or false');
  if (server !== undefined) checkServer(server, wrong);
  if (port !== undefined && !isPort(port)) throw wrong('port', port, 'a number from 0 to 65535');
  if (allowedHosts !== undefined && !(Array.isArray(allowedHosts) && allowedHosts.every(isText)))
    throw wrong('allowedHosts', allowedHosts, 'a list of hosts, such as chat.example.com');
  if (owner !== undefined && !isText(owner)) throw wrong('owner', owner, 'a text');
  if (tokens !== undefined && !(isRecord(tokens) && Object.values(tokens).every(isText)))
    throw wrong('tokens', tokens, 'an object that maps tokens to owners');
  if (
    pusher !== undefined &&
    !(isRecord(pusher) && isText(pusher['key']) && isText(pusher['secret']))
  )
    throw wrong('pusher', pusher, '{ key, secret }');
  if (deps !== undefined && typeof deps !== 'function' && !isRecord(deps))
    throw wrong('deps', deps, 'an object, or a function that returns one');
  if (lease !== undefined && !isRecord(lease))
    throw wrong('lease', lease, '{ leaseMs?, heartbeatMs?, signalMs? }');
  return value as unknown as OnwardConfig; // every field was checked
}

type Wrong = (seen: unknown, expected: string) => AgentError;

function agentIn(entry: unknown, wrong: Wrong): AnyAgent {
  const agent = isRecord(entry) && 'agent' in entry ? entry['agent'] : entry;
  if (!isAgentShape(agent))
    throw wrong(entry, 'the result of createAgent() or build(), or { agent, title?, ... }');
  if (partsOf(agent) === undefined)
    throw wrong(
      agent.name,
      "an agent from the same copy of onward as this command. Two copies are installed: run the project's copy with " +
        '`npx onward`, and find the other with `npm ls onward`',
    );
  return agent;
}

const isAgentShape = (value: unknown): value is AnyAgent =>
  isRecord(value) && typeof value['run'] === 'function' && typeof value['describe'] === 'function';

const isText = (value: unknown): value is string => typeof value === 'string' && value !== '';

const hasMethods = (value: unknown, ...names: readonly string[]): boolean =>
  isRecord(value) && names.every((name) => typeof value[name] === 'function');

const serverFields: Readonly<Record<keyof NonNullable<OnwardConfig['server']>, true>> = {
  admin: true,
  broadcast: true,
  cors: true,
  evals: true,
  grants: true,
  maxBodyBytes: true,
  maxStreams: true,
  payloads: true,
  rateLimit: true,
};

/** The values are checked by `agentServer`. */
function checkServer(
  server: unknown,
  wrong: (field: string, seen: unknown, expected: string) => AgentError,
): void {
  const expected = `one of these fields: ${Object.keys(serverFields).join(', ')}`;
  if (!isRecord(server)) throw wrong('server', server, `an object with ${expected}`);
  for (const [field, seen] of Object.entries(server))
    if (!Object.hasOwn(serverFields, field)) throw wrong(`server.${field}`, seen, expected);
}

const isPort = (value: unknown): boolean =>
  Number.isInteger(value) && Number(value) >= 0 && Number(value) <= 65_535;

/** Returns every agent with its description for users. */
export const entriesOf = ({ agents }: Pick<OnwardConfig, 'agents'>): readonly AgentEntry[] =>
  agents.map((given) => ('agent' in given ? given : { agent: given }));
