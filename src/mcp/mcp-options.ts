import { invalidOption, positive, whole } from '../errors/agent-error.ts';
import { isRecord } from '../json.ts';

/** For whom a connection is opened. */
export interface McpOwner {
  /** Owner of the session, or the `owner` of the run; null without one, and for a shared connection. */
  readonly owner: string | null;
}

/** A value, or a function that returns it for an owner. */
export type PerOwner<T> = T | ((who: McpOwner) => T | Promise<T>);

/** An auth provider of the MCP client package: a token source, or an OAuth client. */
export type McpAuthProvider =
  | { token(): Promise<string | undefined> }
  | { tokens(): unknown; redirectToAuthorization(url: URL): unknown };

/** A server that runs as a child process. */
export interface McpStdioServer {
  /** Prefix of the names of its tools: letters, digits, `_` and `-`. */
  readonly name: string;
  readonly command: string;
  readonly args?: readonly string[];
  /** Variables of the process, besides a few such as PATH and HOME. Nothing else is inherited. */
  readonly env?: PerOwner<Readonly<Record<string, string>>>;
  readonly cwd?: string;
}

/** A server behind Streamable HTTP. */
export interface McpHttpServer {
  /** Prefix of the names of its tools: letters, digits, `_` and `-`. */
  readonly name: string;
  readonly url: string | URL;
  /** Headers of each request. A function is asked before each step, so a new token takes effect then. */
  readonly headers?: PerOwner<Readonly<Record<string, string>>>;
  /** A function is asked once for each connection. */
  readonly authProvider?: PerOwner<McpAuthProvider>;
}

export type McpServer = McpStdioServer | McpHttpServer;

/** A tool as its server describes it. Everything in it is the word of the server. */
export interface McpToolInfo {
  /** Name on the server, without the prefix. */
  readonly name: string;
  readonly description: string;
  /** Hints of the server; absent ones are undefined. */
  readonly hints: {
    readonly readOnly?: boolean;
    readonly destructive?: boolean;
    readonly idempotent?: boolean;
  };
}

/** Names of tools on the server, or a function. */
export type McpToolFilter = readonly string[] | ((tool: McpToolInfo) => boolean);

export interface McpOptions {
  /** Tools to offer. Default: all. */
  readonly include?: McpToolFilter;
  /** Tools not to offer. */
  readonly exclude?: McpToolFilter;
  /**
   * Which calls need approval: all (`true`), none (`false`), those of named tools, or as a function says. Where it says
   * nothing (absent, not named, `undefined`), tools with an explicit `destructiveHint: true` need approval.
   */
  readonly needsApproval?:
    | boolean
    | readonly string[]
    | ((tool: McpToolInfo, args: unknown) => boolean | undefined);
  /** Tools that may run again if it is unknown whether they took effect. */
  readonly idempotent?: McpToolFilter;
  /** Whether `readOnlyHint` and `idempotentHint` of the server also make a tool idempotent. Default: false. */
  readonly trustHints?: boolean;
  /** Whether a step fails while the server cannot be reached. Default: false, it continues without the tools. */
  readonly required?: boolean;
  /** Whether all owners share one connection. Default: false. */
  readonly shared?: boolean;
  /** Timeout of a call in milliseconds. Default 60,000. */
  readonly timeoutMs?: number;
  /** Time to connect and to list tools, in milliseconds. Default 30,000. */
  readonly connectTimeoutMs?: number;
  /**
   * Milliseconds for which a call is kept on its connection while the user is asked, for servers that hold the request
   * open. Default 3,600,000. Servers that give a `requestState` are answered at any time.
   */
  readonly holdMs?: number;
  /** Milliseconds after which an unused connection is closed. Default 300,000. */
  readonly idleMs?: number;
  /** Most open connections. Default 1,000. */
  readonly maxConnections?: number;
  /** Most tools to offer. Default 1,000. */
  readonly maxTools?: number;
  /** Maximum characters of a result; longer ones are truncated with a note. Default 50,000. */
  readonly maxResultChars?: number;
  /** Whether to offer a tool that lists and reads the resources of the server. Default: false. */
  readonly resourceTool?: boolean;
  /** Whether to offer a tool that lists and gets the prompts of the server. Default: false. */
  readonly promptTool?: boolean;
}

/** Options with their defaults. */
export type McpSettings = McpOptions &
  Required<
    Pick<
      McpOptions,
      | 'timeoutMs'
      | 'connectTimeoutMs'
      | 'holdMs'
      | 'idleMs'
      | 'maxConnections'
      | 'maxTools'
      | 'shared'
    >
  >;

const serverForms =
  '{ name, command, args?, env?, cwd? } or { name, url, headers?, authProvider? }';

export function checkedServer(server: McpServer): McpServer {
  if (!isRecord(server)) throw invalidOption('mcp()', server, serverForms);
  const { name } = server;
  if (typeof name !== 'string' || !/^[A-Za-z0-9_-]{1,32}$/.test(name))
    throw invalidOption('mcp() name', name, '1 to 32 letters, digits, "_" or "-"');
  const given: Partial<McpStdioServer & McpHttpServer> = server;
  if ((given.command === undefined) === (given.url === undefined))
    throw invalidOption(`mcp("${name}")`, server, serverForms);
  if (given.url === undefined) return checkedCommand(given as McpStdioServer);
  const url = String(given.url);
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol))
    throw invalidOption(`mcp("${name}") url`, url, 'an http or https URL');
  // they would be in errors and logs
  if (new URL(url).username || new URL(url).password)
    throw invalidOption(`mcp("${name}") url`, 'a URL with credentials', 'them in headers');
  return server;
}

function checkedCommand(server: McpStdioServer): McpStdioServer {
  const { name, command, args = [] } = server;
  if (typeof command !== 'string' || command === '')
    throw invalidOption(`mcp("${name}") command`, command, 'the path or name of a program');
  if (!Array.isArray(args) || args.some((arg) => typeof arg !== 'string'))
    throw invalidOption(`mcp("${name}") args`, args, 'a list of texts');
  return server;
}

export function checkedSettings(server: McpServer, options: McpOptions): McpSettings {
  const option = (key: keyof McpOptions): string => `mcp("${server.name}") ${key}`;
  const { shared = false } = options;
  if (shared && 'authProvider' in server && server.authProvider !== undefined)
    throw invalidOption(
      option('shared'),
      shared,
      'false, because an authProvider acts for one owner. Use headers for a key that all owners share',
    );
  for (const key of ['include', 'exclude', 'idempotent', 'needsApproval'] as const) {
    const value: unknown = options[key];
    const isFit =
      value === undefined ||
      typeof value === 'function' ||
      (Array.isArray(value) && value.every((name) => typeof name === 'string')) ||
      (key === 'needsApproval' && typeof value === 'boolean');
    if (!isFit) throw invalidOption(option(key), value, 'a list of names, or a function');
  }
  return {
    ...options,
    shared,
    timeoutMs: positive(option('timeoutMs'), options.timeoutMs ?? 60_000),
    connectTimeoutMs: positive(option('connectTimeoutMs'), options.connectTimeoutMs ?? 30_000),
    holdMs: positive(option('holdMs'), options.holdMs ?? 3_600_000),
    idleMs: positive(option('idleMs'), options.idleMs ?? 300_000),
    maxConnections: whole(option('maxConnections'), options.maxConnections ?? 1_000),
    maxTools: whole(option('maxTools'), options.maxTools ?? 1_000),
  };
}

/** Whether a filter selects a tool. */
export const selects = (filter: McpToolFilter, tool: McpToolInfo): boolean =>
  typeof filter === 'function' ? filter(tool) : filter.includes(tool.name);
