import { isRecord, toJsonValue, type JsonObject, type JsonValue } from '../json.ts';
import { resourceValue } from './call-result.ts';
import type { McpConnection } from './mcp-connection.ts';
import type { McpSettings } from './mcp-options.ts';
import type { McpReadOptions, McpSession } from './mcp-session.ts';
import type { McpClient } from './open-client.ts';

/** Most pages and entries of a list. */
const MAX_PAGES = 20;
const MAX_ENTRIES = 1_000;

/** The requests of {@link McpSession}, over one connection. */
export class ServerSession implements McpSession {
  readonly #server: string;
  readonly #connection: McpConnection;
  readonly #settings: McpSettings;

  constructor(server: string, connection: McpConnection, settings: McpSettings) {
    this.#server = server;
    this.#connection = connection;
    this.#settings = settings;
  }

  resources(options?: McpReadOptions): Promise<readonly JsonObject[]> {
    return this.#list('resources/list', 'resources', options);
  }

  resourceTemplates(options?: McpReadOptions): Promise<readonly JsonObject[]> {
    return this.#list('resources/templates/list', 'resourceTemplates', options);
  }

  prompts(options?: McpReadOptions): Promise<readonly JsonObject[]> {
    return this.#list('prompts/list', 'prompts', options);
  }

  async readResource(uri: string, options?: McpReadOptions): Promise<readonly JsonValue[]> {
    const { contents } = await this.#request(
      `The resource ${JSON.stringify(uri)}`,
      (client, request) => client.readResource({ uri }, request),
      options,
    );
    return contents.map((content) => resourceValue(content));
  }

  async prompt(
    name: string,
    args: Readonly<Record<string, string>> = {},
    options?: McpReadOptions,
  ): Promise<JsonObject> {
    const result = await this.#request(
      `The prompt ${JSON.stringify(name)}`,
      (client, request) => client.getPrompt({ name, arguments: { ...args } }, request),
      options,
    );
    const { description, messages } = result;
    return toJsonValue({
      ...(description !== undefined && { description }),
      messages,
    }) as JsonObject;
  }

  async #list(
    method: 'resources/list' | 'resources/templates/list' | 'prompts/list',
    key: 'resources' | 'resourceTemplates' | 'prompts',
    options?: McpReadOptions,
  ): Promise<readonly JsonObject[]> {
    return this.#request(
      `The list of ${key}`,
      async (client, request) => {
        const entries: JsonObject[] = [];
        let cursor: string | undefined;
        for (let pages = 0; pages < MAX_PAGES && entries.length < MAX_ENTRIES; pages++) {
          const params = cursor === undefined ? {} : { cursor };
          const page: unknown = await client.request({ method, params } as never, request);
          const found = isRecord(page) && Array.isArray(page[key]) ? page[key] : [];
          entries.push(...(toJsonValue(found) as JsonObject[]));
          const next = isRecord(page) ? page['nextCursor'] : undefined;
          if (typeof next !== 'string') break;
          cursor = next;
        }
        return entries.slice(0, MAX_ENTRIES);
      },
      options,
    );
  }

  async #request<T>(
    what: string,
    send: (client: McpClient, request: { signal: AbortSignal; timeout: number }) => Promise<T>,
    { signal: given }: McpReadOptions = {},
  ): Promise<T> {
    const { timeoutMs } = this.#settings;
    const late = AbortSignal.timeout(timeoutMs);
    const signal = given ? AbortSignal.any([given, late]) : late;
    const value = await this.#connection.request(
      (client) => send(client, { signal, timeout: timeoutMs + 1_000 }),
      { signal, isRepeatable: true, what: `${what} of ${this.#server}` },
    );
    return this.#connection.value(value);
  }
}
