import { AgentError } from '../errors/agent-error.ts';
import { messageOf } from '../errors/error-record.ts';
import { sameJson } from '../json.ts';
import { withoutFullStop } from '../sentence.ts';
import type { AnyTool } from '../tools/tool.ts';
import type { ToolList } from '../tools/tool-source.ts';
import { authorizeTool } from './authorization.ts';
import { contentTools } from './content-tools.ts';
import { listTools, type ListedTool } from './list-tools.ts';
import { FIRST_WAIT_MS, MAX_WAIT_MS, type McpConnection } from './mcp-connection.ts';
import { unreachable } from './mcp-failure.ts';
import { selects, type McpServer, type McpSettings } from './mcp-options.ts';
import { mcpTool } from './mcp-tool.ts';
import type { McpSession } from './mcp-session.ts';
import { ServerSession } from './server-session.ts';
import { toolNames } from './tool-names.ts';
import { raced, rest } from './waiting.ts';

/** Milliseconds after which a list is read again, for servers that do not announce changes. */
const LIST_TTL_MS = 300_000;
const MAX_PROBLEMS = 5;

/** The tools that one connection offers. */
export class OwnerTools {
  readonly connection: McpConnection;
  readonly session: McpSession;
  readonly #server: McpServer;
  readonly #settings: McpSettings;
  #list: ToolList | null = null;
  #generation = -1;
  #listedAt = 0;
  #reading: Promise<ToolList> | null = null;
  /** Of lists that could not be read, although the server was reached. */
  #failures = 0;
  #retryAt = 0;
  #lastError = '';
  /** Made once: the same list means that nothing has changed. */
  #onlyAuthorize: ToolList | null = null;
  #authorize: AnyTool | null = null;

  constructor(server: McpServer, settings: McpSettings, connection: McpConnection) {
    this.#server = server;
    this.#settings = settings;
    this.connection = connection;
    this.session = new ServerSession(server.name, connection, settings);
  }

  /** Returns the tools, from the last list while it is valid. Never waits for a server that was down a moment ago. */
  async list(signal: AbortSignal): Promise<ToolList> {
    const { connection } = this;
    connection.lastUsed = Date.now();
    const list = this.#list;
    const isFresh =
      this.#generation === connection.generation && Date.now() - this.#listedAt < LIST_TTL_MS;
    if (list && isFresh) return list;
    const waitMs = Math.max(connection.waitMs, this.#retryAt - Date.now());
    if (waitMs > 0) {
      if (!this.#settings.required || list)
        return this.#withoutServer(connection.lastError || this.#lastError);
      await rest(Math.min(waitMs, this.#settings.connectTimeoutMs), signal);
    }
    try {
      this.#reading ??= connection.use(() => this.#read()).finally(() => (this.#reading = null));
      return await raced(this.#reading, signal);
    } catch (error) {
      if (AgentError.is(error) || signal.aborted) throw error;
      this.#lastError = messageOf(error);
      this.#retryAt = Date.now() + Math.min(MAX_WAIT_MS, FIRST_WAIT_MS * 2 ** this.#failures++);
      return this.#withoutServer(connection.lastError || messageOf(error));
    }
  }

  /** The last known list: its calls connect again. Without one, the tools are missing. */
  #withoutServer(reason: string): ToolList {
    if (this.#list) return this.#list;
    if (this.connection.authorizationUrl !== null) return this.#unauthorized();
    const unavailable = `the server cannot be reached (${withoutFullStop(this.connection.text(reason))})`;
    if (this.#settings.required) throw new Error(unavailable);
    return { tools: [], unavailable };
  }

  /** One tool, with which the model sends the user to the address where access is given. */
  #unauthorized(): ToolList {
    const { name } = this.#server;
    this.#onlyAuthorize ??= {
      tools: [this.#authorizeTool()],
      unavailable: `the user has to give access to ${name} first`,
    };
    return this.#onlyAuthorize;
  }

  #authorizeTool(): AnyTool {
    this.#authorize ??= authorizeTool(this.#server, `${this.#server.name}__authorize`, this);
    return this.#authorize;
  }

  /** Tries to connect now, and returns where the user can give permission; null if none is needed. */
  async check(signal: AbortSignal): Promise<string | null> {
    const { connection } = this;
    connection.retryNow();
    this.#retryAt = 0;
    try {
      await raced(
        connection.use(() => connection.connect()),
        signal,
      );
      return null;
    } catch (error) {
      signal.throwIfAborted();
      if (connection.authorizationUrl !== null) return connection.authorizationUrl;
      throw unreachable(
        `The check of ${this.#server.name}`,
        this.#server.name,
        connection.text(messageOf(error)),
      );
    }
  }

  async #read(): Promise<ToolList> {
    const { connection } = this;
    const { connectTimeoutMs, maxTools } = this.#settings;
    const { name } = this.#server;
    await connection.connect();
    const { generation } = connection;
    const signal = AbortSignal.timeout(connectTimeoutMs);
    const { tools, problems } = await connection.request(
      (client) => listTools(client, name, maxTools, signal),
      { signal, isRepeatable: true, what: `The list of tools of ${name}` },
    );
    this.#generation = generation;
    this.#listedAt = Date.now();
    this.#failures = 0;
    const made = this.#toolsFor(tools);
    const unavailable = problemsText(problems);
    const list = unavailable === undefined ? { tools: made } : { tools: made, unavailable };
    // the same object: nothing has changed
    if (!this.#list || !isSame(this.#list, list)) this.#list = list;
    return this.#list;
  }

  #toolsFor(listed: readonly ListedTool[]): readonly AnyTool[] {
    const { include, exclude, resourceTool, promptTool } = this.#settings;
    const { name } = this.#server;
    const chosen = listed.filter(
      ({ info }) =>
        (include === undefined || selects(include, info)) &&
        (exclude === undefined || !selects(exclude, info)),
    );
    const names = toolNames(
      name,
      listed.map(({ info }) => info.name),
    );
    const tools = chosen.map((tool) =>
      mcpTool(tool, names.get(tool.info.name) ?? '', this.#settings, this.connection, this.#server),
    );
    const taken = new Set(names.values());
    const content =
      resourceTool || promptTool ? contentTools(name, this.#settings, this.session, taken) : [];
    // also with access: another process may have asked for it
    const own = this.connection.canAuthorize ? [this.#authorizeTool()] : [];
    return [...own.filter((tool) => !taken.has(tool.name)), ...tools, ...content];
  }
}

function problemsText(problems: readonly string[]): string | undefined {
  if (problems.length === 0) return undefined;
  const shown = problems.slice(0, MAX_PROBLEMS).join('; ');
  const more = problems.length - MAX_PROBLEMS;
  return more > 0 ? `${shown}; and ${more} more` : shown;
}

/** Whether two lists are the same for the model and for the runs of their tools. */
const isSame = (a: ToolList, b: ToolList): boolean =>
  a.unavailable === b.unavailable &&
  a.tools.length === b.tools.length &&
  a.tools.every((tool, i) => {
    const other = b.tools[i];
    return (
      other !== undefined &&
      tool.name === other.name &&
      tool.description === other.description &&
      tool.idempotent === other.idempotent &&
      (tool.needsApproval === null) === (other.needsApproval === null) &&
      sameJson(tool.jsonSchema, other.jsonSchema)
    );
  });
