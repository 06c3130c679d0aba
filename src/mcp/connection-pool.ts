import { invalidOption } from '../errors/agent-error.ts';
import { canonicalJson, isRecord } from '../json.ts';
import { sha256 } from '../sha256.ts';
import { McpConnection } from './mcp-connection.ts';
import type { McpAuthProvider, McpOwner, McpServer, McpSettings, PerOwner } from './mcp-options.ts';
import type { Credentials } from './credentials.ts';
import { OwnerTools } from './owner-tools.ts';

/** The connections to one server: one for each owner and credentials, or one for all. */
export class ConnectionPool {
  readonly #server: McpServer;
  readonly #settings: McpSettings;
  readonly #kept: Map<string, OwnerTools> = new Map();
  /** Also of owners that are not kept any more: a run may still use their tools. */
  readonly #open: Set<McpConnection> = new Set();
  /** Providers by owner: a provider keeps tokens, so it is made once. */
  readonly #providers: Map<string, Promise<McpAuthProvider>> = new Map();

  constructor(server: McpServer, settings: McpSettings) {
    this.#server = server;
    this.#settings = settings;
  }

  /** Returns what an owner has, with the credentials that are valid now. Opens nothing. */
  async forOwner(owner: string | null): Promise<OwnerTools> {
    const who: McpOwner = { owner: this.#settings.shared ? null : owner };
    const place = JSON.stringify(who.owner);
    const credentials = await this.#credentials(who, place);
    const { headers, env } = credentials;
    const key = `${place} ${sha256(canonicalJson({ headers, env }))}`;
    const known = this.#kept.get(key);
    if (known) return known;
    this.#makeSpace();
    const connection = new McpConnection(this.#server, this.#settings, credentials, {
      opened: (one) => void this.#open.add(one),
      closed: (one) => void this.#open.delete(one),
      idle: () => {
        this.#kept.delete(key);
        this.#providers.delete(place);
      },
    });
    const made = new OwnerTools(this.#server, this.#settings, connection);
    this.#kept.set(key, made);
    connection.watchIdle();
    return made;
  }

  async close(): Promise<void> {
    const kept = [...this.#kept.values()].map(({ connection }) => connection);
    const all = new Set([...kept, ...this.#open]);
    this.#kept.clear();
    this.#providers.clear();
    await Promise.all([...all].map((connection) => connection.close()));
  }

  async #credentials(who: McpOwner, place: string): Promise<Credentials> {
    const server = this.#server;
    const option = (name: string): string => `mcp("${server.name}") ${name}`;
    if ('command' in server) {
      const env = await resolved(server.env, who);
      return { headers: {}, env: texts(option('env'), env), authProvider: undefined };
    }
    const headers = texts(option('headers'), await resolved(server.headers, who));
    const { authProvider: given } = server;
    if (given === undefined) return { headers, env: {}, authProvider: undefined };
    let provider = this.#providers.get(place);
    if (!provider) {
      provider = Promise.resolve(resolved(given, who) as Promise<McpAuthProvider>);
      this.#providers.set(place, provider);
      provider.catch(() => this.#providers.delete(place));
    }
    return { headers, env: {}, authProvider: await provider };
  }

  /** Closes the connection that was unused for the longest time if there are too many. */
  #makeSpace(): void {
    if (this.#kept.size < this.#settings.maxConnections) return;
    const unused = [...this.#kept]
      .filter(([, { connection }]) => connection.busy === 0)
      .toSorted(([, a], [, b]) => a.connection.lastUsed - b.connection.lastUsed);
    const [oldest] = unused;
    if (!oldest)
      throw new Error(`all ${this.#settings.maxConnections} connections to it are in use`);
    const [key, { connection }] = oldest;
    this.#kept.delete(key);
    connection.close().catch(() => {});
  }
}

const resolved = async <T>(value: PerOwner<T> | undefined, who: McpOwner): Promise<T | undefined> =>
  typeof value === 'function' ? (value as (who: McpOwner) => T | Promise<T>)(who) : value;

function texts(option: string, value: unknown): Readonly<Record<string, string>> {
  if (value === undefined) return {};
  if (!isRecord(value)) throw invalidOption(option, typeof value, 'an object of texts');
  for (const [name, text] of Object.entries(value))
    // the value may be a secret
    if (typeof text !== 'string') throw invalidOption(`${option} ${name}`, typeof text, 'a text');
  return value as Record<string, string>; // checked above
}
