import { AgentError } from '../errors/agent-error.ts';
import { sentence } from '../sentence.ts';

/** Why a bus failed, in `details.reason`. */
export type BusFailure =
  | 'disconnected'
  | 'needs_direct_connection'
  | 'refused'
  | 'overloaded'
  | 'too_large'
  | 'not_text';

const busFailed = (
  reason: BusFailure,
  message: string,
  details: Readonly<Record<string, unknown>>,
): AgentError => new AgentError('bus_failed', message, { details: { reason, ...details } });

/** Error for a server that cannot be reached or used. `why` must not have secrets. */
export const disconnected = (server: string, why: string): AgentError =>
  busFailed(
    'disconnected',
    `The bus has no connection to ${server}: ${sentence(why)} It keeps trying, and messages are lost until it connects.`,
    { server },
  );

/** Error for a connection through a pooler that does not forward notifications. */
export const needsDirectConnection = (): AgentError =>
  busFailed(
    'needs_direct_connection',
    'PostgreSQL notifications do not arrive: the connection goes through a pooler in transaction mode, such as PgBouncer. ' +
      'Set listenUrl of postgresBus(...) to the address of the server itself, or of a pooler in session mode. ' +
      'The bus keeps trying, and messages are lost until it connects.',
    { server: 'PostgreSQL' },
  );

/** Error for a missing package. `bus` is the name of the server, `name` the package to install. */
export const packageMissing = (bus: string, name: string, cause: unknown): AgentError =>
  new AgentError(
    'package_missing',
    `The ${bus} bus needs the package ${name}, which is not installed. Run: npm install ${name}`,
    { cause },
  );

export const refused = (server: string, why: string): AgentError =>
  busFailed('refused', `${server} refused messages of the bus, which are lost: ${sentence(why)}`, {
    server,
  });

export const overloaded = (server: string): AgentError =>
  busFailed(
    'overloaded',
    `The bus drops messages: they are sent faster than ${server} accepts them. Send fewer, or use a faster server.`,
    { server },
  );

export const tooLarge = (bytes: number, maxBytes: number): AgentError =>
  busFailed(
    'too_large',
    `The bus did not send a message of ${bytes} bytes, expected at most ${maxBytes}. Split it.`,
    { bytes, maxBytes },
  );

export const notText = (): AgentError =>
  busFailed(
    'not_text',
    'The bus did not send a message with a NUL character or half of a surrogate pair, expected well-formed text. Send JSON.',
    {},
  );
