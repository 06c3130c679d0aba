import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Command, Option } from 'commander';
import { describe, expect, it } from 'vitest';
import { fencesOf, proseOf } from '../docs-tools/markdown.ts';
import { guides } from '../docs-tools/pages.ts';
import type { CliIo } from '../src/cli/cli-io.ts';
import { buildProgram } from '../src/cli/program.ts';

interface Line {
  readonly place: string;
  readonly file: string;
  readonly words: readonly string[];
}

/** Splits a shell block or inline code into commands, and each command into words. */
function commandsOf(file: string, place: string, script: string): readonly Line[] {
  return script
    .replaceAll(/\\\n/g, ' ')
    .split('\n')
    .map((line) => line.replace(/(?:^|\s)#.*$/, ''))
    .flatMap((line) => splitOutsideQuotes(line))
    .map((part) => ({ place, file, words: wordsOf(part) }))
    .filter(({ words }) => words.length > 0);
}

const splitOutsideQuotes = (line: string): readonly string[] =>
  line.match(/(?:"[^"]*"|'[^']*'|[^"'|;&])+/g) ?? [];

/** Drops `case` labels, redirections and variable assignments. */
const wordsOf = (part: string): readonly string[] =>
  (part.replace(/^\s*[\w*]+\)\s/, ' ').match(/(?:"[^"]*"|'[^']*'|[^\s"'])+/g) ?? [])
    .filter((word, i, all) => !/^\d?>/.test(word) && !/^\d?>$/.test(all[i - 1] ?? ''))
    .filter((word) => !/^[A-Z_]+=/.test(word));

const inShell = guides().flatMap(({ file, text }) =>
  fencesOf(text)
    .filter(({ language }) => language === 'sh')
    .flatMap(({ code, line }) => commandsOf(file, `${file}:${line}`, code)),
);
const inProse = guides().flatMap(({ file, text }) =>
  [...proseOf(text).matchAll(/`((?:npx onward|onward|npm run|npm) [a-z<-][^`\n]*)`/g)].flatMap(
    ([, script = '']) => commandsOf(file, `${file}, \`${script}\``, script),
  ),
);

const silent = { write: () => {}, isTTY: false };
const program = buildProgram(
  { stdout: silent, stderr: silent, env: {} } as unknown as CliIo,
  () => {},
);

/** Returns what is wrong with an `onward` command, or null. */
function wrongWithOnward(
  words: readonly string[],
  options: { readonly complete: boolean },
): string | null {
  let command: Command = program;
  const rest: string[] = [];
  for (let i = 0; i < words.length; i += 1) {
    const [flag = '', value] = (words[i] ?? '').split('=');
    if (flag.startsWith('-')) {
      const option = optionOf(command, flag);
      if (option === null) return `${command.name()} has no option ${flag}`;
      if (option.required && value === undefined) i += 1;
      if (option.variadic && option.optional)
        while (i + 1 < words.length && words[i + 1]?.startsWith('-') === false) i += 1;
      continue;
    }
    const inner = command.commands.find(
      (one) => one.name() === flag || one.aliases().includes(flag),
    );
    if (rest.length === 0 && inner !== undefined) command = inner;
    else rest.push(flag);
  }
  if (command === program && rest[0] !== 'help' && rest.length > 0) return `no command ${rest[0]}`;
  const known = command.registeredArguments;
  if (known.every(({ variadic }) => !variadic) && rest.length > known.length && rest[0] !== 'help')
    return `${command.name()} takes ${known.length} arguments, not ${rest.join(' ')}`;
  const needed = known.filter(({ required }) => required);
  return options.complete && rest.length < needed.length
    ? `${command.name()} needs <${needed[rest.length]?.name()}>`
    : null;
}

const general = new Set(['-h', '--help', '-v', '--version']);
function optionOf(
  command: Command,
  flag: string,
): Pick<Option, 'required' | 'optional' | 'variadic'> | null {
  if (general.has(flag)) return { required: false, optional: false, variadic: false };
  const all = [...command.options, ...program.options];
  return all.find(({ long, short }) => long === flag || short === flag) ?? null;
}

interface Manifest {
  readonly name?: string;
  readonly scripts?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
}
const manifestAt = (folder: string): Manifest =>
  JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest;

/** Reads the nearest package.json; some examples have their own. */
function manifestOf(file: string): Manifest {
  const folder = dirname(file);
  return existsSync(join(folder, 'package.json')) || folder === '.'
    ? manifestAt(folder)
    : manifestOf(folder);
}

function wrongWithNpm(words: readonly string[], file: string): string | null {
  const { scripts = {} } = manifestOf(file);
  const [verb = '', ...more] = words.filter((word) => !word.startsWith('-'));
  if (verb === 'run') return (more[0] ?? '') in scripts ? null : `no script ${more[0]}`;
  if (verb === 'start' || verb === 'test') return verb in scripts ? null : `no script ${verb}`;
  if (['ci', 'pack', 'init', 'pkg'].includes(verb)) return null;
  if (verb !== 'install') return `no rule for npm ${verb}`;
  const own = manifestAt('.');
  const known = new Set([
    own.name,
    ...Object.keys({ ...own.peerDependencies, ...own.devDependencies }),
  ]);
  const strange = more.filter((name) => !known.has(name) && !name.startsWith('./'));
  return strange.length === 0 ? null : `no package of ours: ${strange.join(', ')}`;
}

/** Shell keywords and common programs. */
const ordinary = new Set(
  'case esac for do done cd cp echo export node curl mkdir git open createdb psql docker systemctl useradd'.split(
    ' ',
  ),
);

function wrongWith({ words, file }: Line, options: { readonly complete: boolean }): string | null {
  const [first = '', second = '', ...more] = words;
  if (first === 'npx' && second === 'onward') return wrongWithOnward(more, options);
  if (first === 'npx')
    return existsSync(`node_modules/.bin/${second}`) ? null : `no command ${second}`;
  if (first === 'onward') return wrongWithOnward(words.slice(1), options);
  if (first === 'npm') return wrongWithNpm(words.slice(1), file);
  return ordinary.has(first) ? null : `no rule for the command ${first}`;
}
const problems = (
  lines: readonly Line[],
  options: { readonly complete: boolean },
): readonly string[] =>
  lines.flatMap((line) => {
    const wrong = wrongWith(line, options);
    return wrong === null ? [] : [`${line.place}: ${wrong}`];
  });

describe('commands in the docs', () => {
  it('in shell blocks exist, with their options and arguments', () => {
    expect(inShell.length).toBeGreaterThan(10);
    expect(problems(inShell, { complete: true })).toEqual([]);
  });

  it('in prose exist, with their options', () => {
    expect(inProse.length).toBeGreaterThan(10);
    expect(problems(inProse, { complete: false })).toEqual([]);
  });

  it.each([
    ['onward rnu hello', 'no command rnu'],
    ['onward run hello --agnet x', 'run has no option --agnet'],
    ['onward explain', 'explain needs <session>'],
    ['onward explain last twice', 'explain takes 1 arguments, not last twice'],
    ['onward sessions rm a b -y', null],
    ['onward resume last --grant steps=5', null],
    ['npm run bnech', 'no script bnech'],
    ['npm install leftpad', 'no package of ours: leftpad'],
    ['npx viet', 'no command viet'],
    ['yarn add onward', 'no rule for the command yarn'],
  ])('checks the command: %s', (script, wrong) => {
    const [line] = commandsOf('README.md', 'here', script);
    expect(line && wrongWith(line, { complete: true })).toBe(wrong);
  });
});
