import { defaultRedactor } from '../errors/redactor.ts';
import type { McpAuthProvider } from './mcp-options.ts';

/** What is resolved for one owner. */
export interface Credentials {
  readonly headers: Readonly<Record<string, string>>;
  readonly env: Readonly<Record<string, string>>;
  readonly authProvider: McpAuthProvider | undefined;
}

/** Minimum characters of a value that is taken for a credential, whatever its name. */
const LONG = 16;

/** Returns the credentials to hide: values with a secret name, and long headers such as keys with a name of their own. */
export const secretsOf = ({ headers, env }: Credentials): string[] =>
  [
    ...Object.entries(headers).filter(
      ([name, value]) => isSecretName(name) || (value.length >= LONG && !harmless.has(name)),
    ),
    ...Object.entries(env).filter(([name]) => isSecretName(name)),
  ].flatMap(([, value]) => secretsIn(value));

const harmless: ReadonlySet<string> = new Set(['accept', 'content-type', 'user-agent']);

const isSecretName = (name: string): boolean =>
  defaultRedactor.isSecretKey(name) || /auth|cookie|key|secret|token|password/i.test(name);

/** Returns a header or variable, and the token in it. */
export const secretsIn = (value: string): string[] => [value, ...value.split(/\s+/).slice(1)];
