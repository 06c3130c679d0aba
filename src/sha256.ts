interface NodeCrypto {
  createHash(name: 'sha256'): {
    update(text: string): { digest(encoding: 'hex'): string };
  };
}

type Builtins = (name: 'node:crypto') => NodeCrypto | undefined;

const node: NodeCrypto | undefined = (
  globalThis as { process?: { getBuiltinModule?: Builtins } }
).process?.getBuiltinModule?.('node:crypto');

/** Returns the SHA-256 of a text in hex. Uses Node's if available, because that of the web is asynchronous. */
export const sha256 = (text: string): string =>
  node ? node.createHash('sha256').update(text).digest('hex') : ownSha256(text);

/** Computes the first 32 bits of the fractional parts of the roots of the first primes. */
function primeRoots(count: number, root: number): Uint32Array {
  const roots: number[] = [];
  for (let n = 2; roots.length < count; n++) {
    let isPrime = true;
    for (let d = 2; d * d <= n; d++) if (n % d === 0) isPrime = false;
    if (isPrime) roots.push((n ** (1 / root) % 1) * 2 ** 32);
  }
  return Uint32Array.from(roots);
}

const START = /* @__PURE__ */ primeRoots(8, 2);
const ROUNDS = /* @__PURE__ */ primeRoots(64, 3);

/** Computes SHA-256 (FIPS 180-4), for runtimes without Node. */
export function ownSha256(text: string): string {
  const bytes = new TextEncoder().encode(text);
  const blocks = Math.ceil((bytes.length + 9) / 64);
  const padded = new Uint8Array(blocks * 64);
  padded.set(bytes);
  padded[bytes.length] = 0x80;
  const view = new DataView(padded.buffer);
  view.setUint32(padded.length - 8, Math.floor((bytes.length * 8) / 2 ** 32));
  view.setUint32(padded.length - 4, bytes.length * 8);
  const state = START.slice();
  const words = new Uint32Array(64);
  for (let block = 0; block < blocks; block++) {
    for (let i = 0; i < 16; i++) words[i] = view.getUint32(block * 64 + i * 4);
    compress(state, words);
  }
  return Array.from(state, (word) => word.toString(16).padStart(8, '0')).join('');
}

const turned = (word: number, bits: number): number => (word >>> bits) | (word << (32 - bits));

function compress(state: Uint32Array, words: Uint32Array): void {
  const w = (i: number): number => words[i] as number; // i is below 64
  for (let i = 16; i < 64; i++) {
    const [x, y] = [w(i - 15), w(i - 2)];
    const s0 = turned(x, 7) ^ turned(x, 18) ^ (x >>> 3);
    const s1 = turned(y, 17) ^ turned(y, 19) ^ (y >>> 10);
    words[i] = w(i - 16) + s0 + w(i - 7) + s1;
  }
  let [a, b, c, d, e, f, g, h] = state as unknown as Eight;
  for (let i = 0; i < 64; i++) {
    const s1 = turned(e, 6) ^ turned(e, 11) ^ turned(e, 25);
    const t1 = (h + s1 + ((e & f) ^ (~e & g)) + (ROUNDS[i] as number) + w(i)) | 0;
    const s0 = turned(a, 2) ^ turned(a, 13) ^ turned(a, 22);
    const t2 = (s0 + ((a & b) ^ (a & c) ^ (b & c))) | 0;
    [h, g, f, e, d, c, b, a] = [g, f, e, (d + t1) | 0, c, b, a, (t1 + t2) | 0];
  }
  for (const [i, word] of [a, b, c, d, e, f, g, h].entries())
    state[i] = (state[i] as number) + word;
}

type Eight = [number, number, number, number, number, number, number, number];
