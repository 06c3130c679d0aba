import { randomUUID } from 'node:crypto';
import { Hono } from 'hono';
import * as z from 'zod';

/** Names and passwords. A real app asks its identity provider, or its table of users with hashed passwords. */
const people = new Map([
  ['ada', 'lovelace'],
  ['ben', 'franklin'],
]);
const tokens = new Map<string, string>();

/** `POST /sign-in` gives a token for a name and a password. */
export const signIn: Hono = new Hono();
signIn.post('/sign-in', async (c) => {
  const body: unknown = await c.req.json().catch(() => null);
  const { data } = z.object({ name: z.string(), password: z.string() }).safeParse(body);
  if (!data || people.get(data.name) !== data.password)
    return c.json({ error: { code: 'unauthorized', message: 'Name or password is wrong.' } }, 401);
  const token = randomUUID();
  tokens.set(token, data.name);
  return c.json({ token });
});

/** The signed-in user; null for none, which the API answers with 401. */
export const ownerOf = ({ headers }: Request): string | null =>
  tokens.get(headers.get('authorization')?.replace(/^Bearer /, '') ?? '') ?? null;
