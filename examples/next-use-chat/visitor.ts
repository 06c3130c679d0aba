/** Who asks: a secret that each visitor gets as a cookie. A real app reads its session here. */
export const visitorOf = ({ headers }: Request): string | null =>
  /(?:^|; )visitor=([0-9a-f-]{36})/.exec(headers.get('cookie') ?? '')?.[1] ?? null;

/** For a visitor without one. Scripts cannot read it, and other sites cannot send it. */
export const newVisitor = (): string =>
  `visitor=${crypto.randomUUID()}; Path=/; HttpOnly; SameSite=Lax; Max-Age=31536000`;
