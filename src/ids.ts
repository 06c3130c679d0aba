const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';
const pool = new Uint8Array(8192);
let cursor = pool.length;

/** 80 random bits behind a readable prefix, such as `msg_4f0z…`. */
export function shortId(prefix: string): string {
  if (cursor + 16 > pool.length) {
    crypto.getRandomValues(pool);
    cursor = 0;
  }
  let id = prefix;
  for (const end = cursor + 16; cursor < end; cursor++) id += ALPHABET[(pool[cursor] ?? 0) & 31];
  return id;
}

/** A UUID, also where `crypto.randomUUID` is missing (a page served without TLS). */
export function uuid(): string {
  if (typeof crypto.randomUUID === 'function') return crypto.randomUUID();
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  const hex = Array.from(bytes, (b) => b.toString(16).padStart(2, '0')).join('');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}
