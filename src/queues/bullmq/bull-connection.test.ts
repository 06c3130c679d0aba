import { describe, expect, it } from 'vitest';
import { AgentError } from '../../errors/agent-error.ts';
import { bullTarget, queueFailed, type BullConnection } from './bull-connection.ts';

describe('the connection of a shared queue', () => {
  it.each<[BullConnection, 'Redis' | 'PostgreSQL', object]>([
    ['redis://host:1', 'Redis', { url: 'redis://host:1', maxRetriesPerRequest: null }],
    ['rediss://host', 'Redis', { url: 'rediss://host' }],
    [{ redis: { host: 'h', connectTimeout: 7 } }, 'Redis', { host: 'h', connectTimeout: 7 }],
    ['postgres://host/db', 'PostgreSQL', { connectionString: 'postgres://host/db', schema: 'q' }],
    ['postgresql://host', 'PostgreSQL', { options: '-c synchronous_commit=off' }],
    [
      { postgres: { host: 'h', max: 9, options: '-c geqo=off' } },
      'PostgreSQL',
      { host: 'h', max: 9, options: '-c geqo=off -c synchronous_commit=off' },
    ],
  ])('%j', (connection, server, options) => {
    const target = bullTarget(connection, 'q');
    expect(target.server).toBe(server);
    expect(target.options).toMatchObject(options);
  });

  it.each(['mysql://u:hidden-one@host', '', {}, null])(
    'rejects %j without showing it in the error',
    (given) => {
      try {
        bullTarget(given as BullConnection, 'q');
        expect.unreachable();
      } catch (error) {
        expect(error).toMatchObject({ code: 'invalid_option' });
        expect(String(error)).not.toContain('hidden-one');
      }
    },
  );

  it.each(['1q', 'a-b', 'a"; drop', '', 'a'.repeat(64)])('rejects the schema %j', (prefix) => {
    expect(() => bullTarget('postgres://host', prefix)).toThrow(
      expect.objectContaining({ code: 'invalid_option' }),
    );
    expect(() => bullTarget('redis://host', prefix)).not.toThrow();
  });

  it.each<BullConnection>([
    'redis://:hidden-one@host',
    'postgres://me:hidden%2Done@host/db',
    { redis: { password: 'hidden-one' } },
    { redis: { sentinelPassword: 'hidden-one' } },
    { postgres: { connectionString: 'postgres://me:hidden-one@host' } },
  ])('hides the secrets of %j in errors', (connection) => {
    const said = new Error('no login with hidden-one at postgres://me:hidden%2Done@host/db');
    const error = queueFailed(bullTarget(connection, 'q'), said);
    expect(error).toMatchObject({ code: 'queue_failed' });
    expect(JSON.stringify([error.message, error.stack, error.cause ?? null])).not.toMatch(
      /hidden-one|hidden%2Done/,
    );
  });

  it('returns an AgentError unchanged', () => {
    const missing = new AgentError('package_missing', 'Run: npm install bullmq');
    expect(queueFailed(bullTarget('redis://host', 'q'), missing)).toBe(missing);
  });
});
