import type { JsonObject, JsonValue } from '../json.ts';

export interface McpReadOptions {
  readonly signal?: AbortSignal;
}

/** The resources and prompts of a server, for one owner. Requests repeat after a reconnect. */
export interface McpSession {
  /** Returns at most 1,000 resources: `{ uri, name, description?, mimeType? }`. */
  resources(options?: McpReadOptions): Promise<readonly JsonObject[]>;
  /** Returns at most 1,000 templates of resource URIs. */
  resourceTemplates(options?: McpReadOptions): Promise<readonly JsonObject[]>;
  /** Reads a resource. Returns its contents: `{ uri, mimeType?, text }`, where binary content is a note. */
  readResource(uri: string, options?: McpReadOptions): Promise<readonly JsonValue[]>;
  /** Returns at most 1,000 prompts: `{ name, description?, arguments? }`. */
  prompts(options?: McpReadOptions): Promise<readonly JsonObject[]>;
  /** Returns the messages of a prompt. */
  prompt(
    name: string,
    args?: Readonly<Record<string, string>>,
    options?: McpReadOptions,
  ): Promise<JsonObject>;
}
