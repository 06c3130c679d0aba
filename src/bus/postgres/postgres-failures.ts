/** Explanations by SQLSTATE class. Messages of the server are not shown, because some have names and values. */
const explained: Readonly<Record<string, string>> = {
  '08': 'the connection failed',
  '22': 'the encoding of the database does not support a character of a message',
  '25': 'the server is a standby, which does not support LISTEN and NOTIFY; set listenUrl to the primary',
  '28': 'the server refused the login',
  '3D': 'the server has no such database',
  '53': 'the server has no connection or memory left',
  '54': 'its notification queue is full, because a listening session has an open transaction',
  '57': 'the server is starting, stopping or ended the connection',
};

const codeOf = (error: unknown): string => {
  const { code } = (error ?? {}) as { readonly code?: unknown };
  return typeof code === 'string' ? code : '';
};

const isSqlState = (code: string): boolean => /^[0-9A-Z]{5}$/.test(code);

/**
 * Whether the server refused one statement and the connection still works. After errors of the excluded classes the
 * connection ends, or should.
 */
export function isRefusal(error: unknown): boolean {
  const code = codeOf(error);
  return isSqlState(code) && !/^(?:08|25|57)/.test(code);
}

/** Whether the text of a message was refused: the encoding of the database does not support it. */
export const isOfText = (error: unknown): boolean => codeOf(error).startsWith('22');

export function explainFailure(error: unknown): string {
  const code = codeOf(error);
  if (isSqlState(code))
    return `${explained[code.slice(0, 2)] ?? 'the server refused a statement'} (${code})`;
  if (code !== '') return code;
  return error instanceof Error ? error.message : 'no reason was given';
}
