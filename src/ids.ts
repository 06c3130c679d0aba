const letters = Uint8Array.from('0123456789abcdefghjkmnpqrstvwxyz', (l) => l.charCodeAt(0));
/** Codes of random letters. */
const pool = new Uint8Array(8192);
let cursor = pool.length;

const next = (): number => pool[cursor++] ?? 0;

function refill(): void {
  crypto.getRandomValues(pool);
  for (let i = 0; i < pool.length; i++) pool[i] = letters[(pool[i] ?? 0) & 31] ?? 0;
  cursor = 0;
}

/**
 * Creates ids of 80 random bits after a readable prefix, such as `msg_4f0z…`. Uses one call, because a concatenated
 * string stays a tree in memory, and ids are kept permanently.
 */
/* @__NO_SIDE_EFFECTS__ */
const idMaker = (prefix: string): (() => string) => {
  const codes = Array.from(prefix, (letter) => letter.charCodeAt(0));
  const [a = 0, b = 0, c = 0, d = 0] = codes;
  return () => {
    if (cursor + 16 > pool.length) refill();
    // prettier-ignore
    return String.fromCharCode(
      a, b, c, d, next(), next(), next(), next(), next(), next(), next(), next(), next(), next(), next(), next(),
      next(), next(), next(), next(),
    );
  };
};

export const messageId: () => string = idMaker('msg_');
export const stepId: () => string = idMaker('stp_');
export const callId: () => string = idMaker('cal_');
export const compactionId: () => string = idMaker('cmp_');

/** Ids that are safe in routes, stores and URLs. */
const usable = /^[A-Za-z0-9_-]{1,64}$/;
const ours = /^cal_[0-9a-z]{16}$/;

/** Whether a provider's id can be used for a call unchanged: safe everywhere, and not like a generated one. */
export const isUsableCallId = (id: string): boolean => usable.test(id) && !ours.test(id);

/** Creates a UUID, also if `crypto.randomUUID` is missing, as in a page served without TLS. */
export function uuid(): string {
  if (typeof crypto.randomUUID === 'function') return crypto.randomUUID();
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  const hex = Array.from(bytes, (b) => b.toString(16).padStart(2, '0')).join('');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}
