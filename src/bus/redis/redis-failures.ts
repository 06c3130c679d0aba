/**
 * Explanations by the first word of a reply. The rest is never shown, because a server may repeat its input, even a
 * password.
 */
const explained: Readonly<Record<string, string>> = {
  ERR: 'the server refused a command',
  LOADING: 'the server is starting',
  MASTERDOWN: 'the server has no connection to its primary',
  NOAUTH: 'the server requires a login',
  NOPERM: 'the user has no permission for the commands or channels of the bus',
  WRONGPASS: 'the server refused the login',
};

/** Whether the server replied with an error, after which the connection still works. */
export const isRefusal = (error: unknown): boolean =>
  error instanceof Error && error.name === 'ReplyError';

export function explainFailure(error: unknown): string {
  if (!(error instanceof Error)) return 'no reason was given';
  if (isRefusal(error)) {
    const word = /^[A-Z]+/.exec(error.message)?.[0] ?? 'ERR';
    return `${explained[word] ?? 'the server refused a command'} (${word})`;
  }
  const { code } = error as { readonly code?: unknown };
  return typeof code === 'string' ? code : error.message;
}
