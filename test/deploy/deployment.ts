import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import type { CliIo } from '../../src/cli/cli-io.ts';
import { buildProgram } from '../../src/cli/program.ts';

const folder = 'examples/deploy';
export const textOf = (name: string): string => readFileSync(join(folder, name), 'utf8');

export interface Service {
  readonly image: string;
  readonly command: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  readonly healthcheck: { readonly test: readonly string[] };
  readonly stop_grace_period?: string;
  readonly profiles?: readonly string[];
  readonly ports?: readonly string[];
  readonly deploy?: { readonly replicas: number };
}

export const services: Readonly<Record<string, Service>> = (
  parse(textOf('compose.yaml'), { merge: true }) as { services: Record<string, Service> }
).services;

export interface ServiceProcesses {
  readonly name: string;
  readonly service: Service;
  readonly count: number;
}

/** The services that run `onward`, with how many processes each has. */
export const processes: readonly ServiceProcesses[] = Object.entries(services)
  .filter(([, { image }]) => image === 'onward-app')
  .map(([name, service]) => ({ name, service, count: service.deploy?.replicas ?? 1 }));

/** Settings of a systemd unit; a name that occurs twice has two values. */
export type Unit = ReadonlyMap<string, readonly string[]>;

export function unitOf(name: string): Unit {
  const settings = new Map<string, string[]>();
  for (const line of textOf(`systemd/${name}`).split('\n')) {
    const [, key, value] = /^(\w+)=(.*)$/.exec(line) ?? [];
    if (key !== undefined && value !== undefined)
      settings.set(key, [...(settings.get(key) ?? []), value]);
  }
  return settings;
}

/** The arguments of `onward` in a unit, for one instance of it. */
export function unitCommand(unit: Unit, instance: string): readonly string[] {
  const [start = ''] = unit.get('ExecStart') ?? [];
  const [program = '', ...words] = start.replaceAll('%i', instance).split(' ');
  if (!program.endsWith('/node_modules/.bin/onward')) throw new Error(`It starts ${program}.`);
  return words;
}

const silent = { write: () => {}, isTTY: false };

/** Reads a command as the command line does. Throws for a command, an option or a value that it does not have. */
export function parsedCommand([name, ...words]: readonly string[]): {
  readonly name: string;
  readonly options: Readonly<Record<string, unknown>>;
} {
  const io = { stdout: silent, stderr: silent, env: {} } as unknown as CliIo; // only parsed
  const command = buildProgram(io, () => {}).commands.find((one) => one.name() === name);
  if (!command) throw new Error(`There is no command onward ${name}.`);
  const { operands, unknown } = command.parseOptions([...words]);
  if (operands.length + unknown.length > 0)
    throw new Error(`onward ${name} does not take ${[...operands, ...unknown].join(' ')}.`);
  return { name: command.name(), options: command.opts() };
}
