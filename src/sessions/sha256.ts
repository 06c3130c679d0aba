interface NodeCrypto {
  createHash(name: 'sha256'): {
    update(text: string): { digest(encoding: 'hex'): string };
  };
}

type Builtins = (name: 'node:crypto') => NodeCrypto | undefined;

const node: NodeCrypto | undefined = (
  globalThis as { process?: { getBuiltinModule?: Builtins } }
).process?.getBuiltinModule?.('node:crypto');

/** In hex. Where there is Node its own is used: the one of the web hands even a short text to another thread. */
export const sha256 = (text: string): string | Promise<string> =>
  node ? node.createHash('sha256').update(text).digest('hex') : webSha256(text);

export async function webSha256(text: string): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text));
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, '0')).join('');
}
