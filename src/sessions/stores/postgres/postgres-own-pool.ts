import { AgentError } from '../../../errors/agent-error.ts';
import type { PoolLike } from './postgres-client.ts';

/** Additional connections that are reserved for heartbeats. */
const FOR_HEARTBEATS = 2;

export interface OwnPoolOptions {
  readonly connectionString?: string | undefined;
  readonly poolSize: number;
  readonly connectTimeoutMs: number;
}

/** Opens a pool of `pg` for the store alone. */
export async function ownPool({
  connectionString,
  poolSize,
  connectTimeoutMs,
}: OwnPoolOptions): Promise<PoolLike> {
  const pg = await import('pg').catch((cause: unknown) => {
    throw new AgentError(
      'package_missing',
      'The PostgreSQL store needs the package pg, which is not installed. Run: npm install pg',
      { cause },
    );
  });
  return new pg.default.Pool({
    ...(connectionString !== undefined && { connectionString }),
    max: poolSize + FOR_HEARTBEATS,
    application_name: 'onward',
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    connectionTimeoutMillis: connectTimeoutMs,
    allowExitOnIdle: true,
  });
}
