import { createHmac } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { ownerByToken } from '../../examples/deploy/auth.ts';
import { healthOf } from '../../src/cli/health.ts';
import { parsedCommand, processes, services, textOf, unitCommand, unitOf } from './deployment.ts';

const units = [
  { file: 'onward-web@.service', instance: '4111' },
  { file: 'onward-worker@.service', instance: '1' },
].map(({ file, instance }) => {
  const unit = unitOf(file);
  return { file, unit, command: unitCommand(unit, instance) };
});

/** Seconds that closing takes after the grace: a handover, the queue, the bus and the store. */
const CLOSING = 15;

/** Seconds that a command takes after SIGTERM before it closes. */
function drainOf(command: readonly string[]): number {
  const { options } = parsedCommand(command);
  return Number(options['grace']) + Number(options['drainDelay'] ?? 0);
}

const portIn = (url: string): number => Number(new URL(url).port);
const isProbe = (url: string): boolean =>
  healthOf({ find: async () => null }).answer(new Request(url)) !== null;

describe('compose.yaml', () => {
  it('has two web processes, four workers, PostgreSQL, a proxy, and Redis on demand', () => {
    expect(processes.map(({ name, count }) => `${name} × ${count}`)).toEqual([
      'web-1 × 1',
      'web-2 × 1',
      'worker-1 × 2',
      'worker-2 × 2',
    ]);
    expect(Object.keys(services).toSorted()).toEqual(
      ['postgres', 'proxy', 'redis', 'web-1', 'web-2', 'worker-1', 'worker-2'].toSorted(),
    );
    expect(services['redis']?.profiles).toEqual(['redis']);
    const isOpen = Object.keys(services).filter((name) => services[name]?.ports);
    expect(isOpen).toEqual(['proxy']);
  });

  it.each(processes)('$name: the command exists, and is stopped after its grace', ({ service }) => {
    const [, seconds] = /^(\d+)s$/.exec(service.stop_grace_period ?? '') ?? [];
    expect(Number(seconds)).toBeGreaterThanOrEqual(drainOf(service.command) + CLOSING);
  });

  it.each(processes)('$name: the health check asks its port whether it is ready', ({ service }) => {
    const { name, options } = parsedCommand(service.command);
    const url = service.healthcheck.test.at(-1) ?? '';
    expect(service.healthcheck.test.slice(0, -1)).toEqual(['CMD', 'node', 'probe.mjs']);
    expect(portIn(url)).toBe(name === 'serve' ? options['port'] : options['healthPort']);
    expect([isProbe(url), new URL(url).pathname]).toEqual([true, '/readyz']);
    expect(options['host']).toBe('0.0.0.0');
  });

  it('takes every secret from the environment, and env.example names each variable', () => {
    const text = textOf('compose.yaml');
    const used = new Set(Array.from(text.matchAll(/\$\{(\w+)/g), ([, name]) => name));
    const named = textOf('env.example').match(/^\w+(?==)/gm) ?? [];
    expect(Array.from(used, String).toSorted()).toEqual(named.toSorted());
    const values = processes.flatMap(({ service }) => Object.entries(service.environment));
    const isSecret = ([name]: [string, string]): boolean => /SECRET|KEY|PASSWORD|URL/.test(name);
    const literal = values.filter(isSecret).filter(([, value]) => !value.includes('${'));
    expect(literal).toEqual([]);
  });

  it('lets PostgreSQL accept the connections of all processes and of one more worker', () => {
    const [, most] = /max_connections=(\d+)/.exec(services['postgres']?.command.join(' ') ?? '')!;
    const { serve, worker } = documentedConnections();
    const needed = processes.reduce(
      (sum, { service, count }) => sum + count * (service.command[0] === 'serve' ? serve : worker),
      worker,
    );
    // three are reserved for superusers
    expect(Number(most) - 3).toBeGreaterThanOrEqual(needed);
  });
});

/** The sums of the table in docs/deploying.md. */
function documentedConnections(): { readonly serve: number; readonly worker: number } {
  const page = readFileSync('docs/deploying.md', 'utf8');
  const row = /^\| \*\*sum\*\* .*$/m.exec(page)?.[0] ?? '';
  const [serve = 0, worker = 0] = Array.from(row.matchAll(/\d+/g), ([text]) => Number(text));
  return { serve, worker };
}

describe('the proxy', () => {
  const text = textOf('Caddyfile');

  it('reaches the ports of the web processes', () => {
    const [, targets = ''] = /\{\$ONWARD_WEB:([^}]+)\}/.exec(text) ?? [];
    const web = processes.filter(({ service }) => service.command[0] === 'serve');
    expect(targets.split(' ')).toEqual(
      web.map(
        ({ name, service }) => `${name}:${String(parsedCommand(service.command).options['port'])}`,
      ),
    );
  });

  it('asks whether a process is ready, and holds no event stream back', () => {
    const [, uri = ''] = /health_uri (\S+)/.exec(text) ?? [];
    expect([isProbe(`http://web${uri}`), uri]).toEqual([true, '/readyz']);
    const lines = text.split('\n').map((line) => line.trim());
    expect(lines).toContain('versions 1.1');
    // Caddy sends event streams at once; each of these would buffer, compress or end them
    const words = lines.map((line) => line.split(' ')[0]);
    for (const word of ['encode', 'response_buffers', 'read_timeout', 'response_header_timeout'])
      expect(words).not.toContain(word);
  });

  it('notices a draining web process while that serves on', () => {
    const [, seconds] = /health_interval (\d+)s/.exec(text) ?? [];
    const web = processes.filter(({ service }) => service.command[0] === 'serve');
    const commands = [...web.map(({ service }) => service.command), units[0]!.command];
    for (const command of commands)
      expect(parsedCommand(command).options['drainDelay']).toBeGreaterThanOrEqual(
        2 * Number(seconds),
      );
  });

  it('keeps connections for a shorter time than the server', () => {
    const [, seconds] = /keepalive (\d+)s/.exec(text) ?? [];
    expect(Number(seconds)).toBeLessThan(72);
  });
});

describe.each(units)('$file', ({ unit, command }) => {
  it('starts a command that exists, and stops it after its grace', () => {
    const [seconds] = unit.get('TimeoutStopSec') ?? [];
    expect(Number(seconds)).toBeGreaterThanOrEqual(drainOf(command) + CLOSING);
    expect(unit.get('KillSignal')).toEqual(['SIGTERM']);
    expect(unit.get('Restart')).toEqual(['always']);
    // exit code 2 is a wrong config or command line
    expect(unit.get('RestartPreventExitStatus')).toEqual(['2']);
  });

  it('runs as a user of its own that can change nothing', () => {
    expect(unit.get('User')).toEqual(['onward']);
    const yes = ['NoNewPrivileges', 'PrivateTmp', 'PrivateDevices', 'ProtectHome'];
    expect(yes.map((name) => unit.get(name))).toEqual(yes.map(() => ['yes']));
    expect(unit.get('ProtectSystem')).toEqual(['strict']);
    expect(unit.get('CapabilityBoundingSet')).toEqual(['']);
  });

  it('takes secrets from a file', () => {
    expect(unit.get('EnvironmentFile')).toEqual(['/etc/onward/onward.env']);
    expect(unit.get('Environment')).toEqual(['NODE_ENV=production']);
  });
});

it('the Dockerfile copies what the config needs, and runs onward as a user without rights', () => {
  const text = textOf('Dockerfile');
  const [, copied = ''] = /^COPY (.*) \.\/$/m.exec(text.split('ENV NODE_ENV')[1] ?? '') ?? [];
  const imported = Array.from(
    textOf('onward.config.ts').matchAll(/'\.\/(.+)'/g),
    ([, file]) => file,
  );
  expect(imported).not.toEqual([]);
  expect(copied.split(' ')).toEqual(
    expect.arrayContaining(['package.json', 'onward.config.ts', 'probe.mjs', ...imported]),
  );
  expect(text).toMatch(/^FROM node:\$\{NODE_VERSION\}-slim$/m);
  expect(text).toMatch(/^USER node$/m);
  expect(text).toMatch(/^ENTRYPOINT \["\/app\/node_modules\/\.bin\/onward"\]$/m);
});

it.each([
  [['sevre'], 'There is no command onward sevre.'],
  [['serve', '--no-wrok'], 'onward serve does not take --no-wrok.'],
  [['worker', 'support'], 'onward worker does not take support.'],
  [['worker', '--grace', 'long'], "'long' is invalid"],
])('%j is refused', (words, message) => {
  expect(() => parsedCommand(words)).toThrow(message);
});

describe('the auth hook', () => {
  const secret = 's'.repeat(32);
  const soon = Math.floor(Date.now() / 1000) + 60;
  const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
  const token = (claims: object, by = secret, alg = 'HS256'): string => {
    const text = `${part({ alg, typ: 'JWT' })}.${part(claims)}`;
    return `Bearer ${text}.${createHmac('sha256', by).update(text).digest('base64url')}`;
  };
  const ownerOf = (authorization?: string): string | null =>
    ownerByToken(secret)(
      new Request('http://app', { ...(authorization && { headers: { authorization } }) }),
    );

  it('returns the owner of a signed token', () => {
    expect(ownerOf(token({ sub: 'ann', exp: soon }))).toBe('ann');
  });

  it.each([
    ['no token', undefined],
    ['another secret', token({ sub: 'ann', exp: soon }, 'x'.repeat(32))],
    ['an expired token', token({ sub: 'ann', exp: soon - 120 })],
    ['a token without an end', token({ sub: 'ann' })],
    ['a token without an owner', token({ sub: '', exp: soon })],
    ['another algorithm', token({ sub: 'ann', exp: soon }, secret, 'none')],
    ['no signature', token({ sub: 'ann', exp: soon }).replace(/\.[^.]*$/, '.')],
    ['not a token', 'Bearer ann'],
  ])('returns null for %s', (_name, authorization) => {
    expect(ownerOf(authorization)).toBeNull();
  });

  it('refuses a short secret', () => {
    expect(() => ownerByToken('secret')).toThrow('Use at least 32 random ones.');
  });
});
