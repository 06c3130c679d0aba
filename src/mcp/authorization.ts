import { defineTool } from '../tools/define-tool.ts';
import type { InputQuestion } from '../tools/input-request.ts';
import type { AnyTool, ToolContext } from '../tools/tool.ts';
import { mcpFailure } from './mcp-failure.ts';
import type { McpAuthProvider, McpServer } from './mcp-options.ts';
import { serverLabel } from './server-question.ts';

/** A request that needs the permission of the user at an address. */
export class AuthorizationNeeded extends Error {
  override readonly name = 'AuthorizationNeeded';
  readonly url: string;

  constructor(url: string, message: string) {
    super(message);
    this.url = url;
  }
}

/** Returns the provider, which also reports the address to which it would send the user. */
export function watchedProvider(
  provider: McpAuthProvider,
  sent: (url: string) => void,
): McpAuthProvider {
  if (!('redirectToAuthorization' in provider)) return provider;
  return new Proxy(provider, {
    get(target, key) {
      const value: unknown = Reflect.get(target, key, target);
      if (typeof value !== 'function') return value;
      if (key !== 'redirectToAuthorization') return value.bind(target) as unknown;
      return (url: URL) => {
        sent(String(url));
        return target.redirectToAuthorization(url);
      };
    },
  });
}

/** The question that sends the user to the address. */
export const authorizationQuestion = (server: McpServer, url: string): InputQuestion => ({
  message: `${serverLabel(server)} needs your permission. Open the address, allow access, and come back.`,
  url,
});

const notAuthorized = (server: McpServer): Error =>
  mcpFailure('mcp_unauthorized', `The user did not give access to ${server.name}.`);

/** What the tool needs of the connection. */
export interface Authorizable {
  /** Where the user can give permission; null if none is needed. */
  check(signal: AbortSignal): Promise<string | null>;
}

/** Creates the tool that asks for access: a server lists no tools before the user gave it. */
export const authorizeTool = (server: McpServer, name: string, connection: Authorizable): AnyTool =>
  defineTool({
    name,
    description: `Asks the user to give access to ${server.name}, if that is missing. Its tools are available afterwards.`,
    idempotent: true,
    async execute(_args: unknown, { input, signal, requestInput }: ToolContext) {
      if (input && input.answers['authorize']?.action !== 'accept') throw notAuthorized(server);
      const url = await connection.check(signal);
      if (url === null) return `Access to ${server.name} is given. Its tools are available now.`;
      return requestInput({ authorize: authorizationQuestion(server, url) });
    },
  });
