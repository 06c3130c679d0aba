import { appendFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join, relative, resolve } from 'node:path';
import { version } from '../../server/version.ts';
import { quoted, type CliContext } from '../cli-context.ts';
import { initFiles } from '../init-files.ts';
import { initNeeds } from '../init-needs.ts';
import { usageError } from '../usage-error.ts';

/** Writes a small project that runs without changes. Never overwrites a file. */
export function init(context: CliContext, folderName: string | undefined): number {
  const { io, note, paintNote } = context;
  const folder = resolve(io.cwd, folderName ?? '.');
  const config = ['ts', 'mts', 'js', 'mjs']
    .map((ending) => `onward.config.${ending}`)
    .find((name) => existsSync(join(folder, name)));
  if (config !== undefined)
    throw usageError(
      `${join(folder, config)} exists, and nothing was written. Start it with: ${context.command('dev')}`,
    );
  mkdirSync(folder, { recursive: true });
  const { ending, packages, missing } = initNeeds(folder);
  const written: string[] = [];
  const kept: string[] = [];
  for (const { name, text } of initFiles({
    ending,
    packages,
    name: packageName(folder),
    version,
  })) {
    const file = join(folder, name);
    if (existsSync(file)) kept.push(name);
    else {
      writeFileSync(file, text, { flag: 'wx' });
      written.push(name);
    }
  }
  if (ignore(folder)) written.push('.gitignore');
  if (context.isJson) {
    context.printJson({ type: 'init', folder, written, kept });
    return 0;
  }
  for (const name of written) note(`  ${paintNote('green', '+')} ${name}`);
  for (const name of kept) note(`  ${paintNote('dim', '=')} ${name} exists and was not changed`);
  note('\nNext:');
  const folderArgument = relative(io.cwd, folder);
  if (folderArgument !== '') note(`  cd ${quoted(folderArgument)}`);
  if (written.includes('package.json')) note('  npm install');
  else if (missing.length > 0) note(`  npm install ${missing.join(' ')}`);
  note('  npx onward run "How many words are in this sentence?"');
  note('  npx onward dev');
  return 0;
}

const packageName = (folder: string): string =>
  basename(folder)
    .toLowerCase()
    .replace(/[^a-z0-9-]+/g, '-')
    .replace(/^-+|-+$/g, '') || 'agents';

/** Adds `.onward/` to the ignore file, once. */
function ignore(folder: string): boolean {
  const file = join(folder, '.gitignore');
  const lines = existsSync(file) ? readFileSync(file, 'utf8') : '';
  const entries = ['.onward/', ...(lines === '' ? ['node_modules/'] : [])];
  const missing = entries.filter((entry) => !lines.split(/\r?\n/).includes(entry));
  if (missing.length === 0) return false;
  const gap = lines === '' || lines.endsWith('\n') ? '' : '\n';
  appendFileSync(file, `${gap}${missing.join('\n')}\n`);
  return true;
}
