import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { installed } from '../test/setup/installed.ts';

/** `npm run docs:site`: builds docs/ as a site with search, in build/docs-site. */
const vitepress = join(installed('docs-site'), 'node_modules/vitepress/bin/vitepress.js');
const [command = 'build'] = process.argv.slice(2);
const { status } = spawnSync(process.execPath, [vitepress, command, 'docs-site'], {
  stdio: 'inherit',
});
process.exitCode = status ?? 1;
