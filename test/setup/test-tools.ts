import { createRequire } from 'node:module';
import { join } from 'node:path';
import { installed } from './installed.ts';

/** Resolves a module of `test/tools`, which has the programs for system tests. */
export const toolPath = (name: string): string =>
  createRequire(join(installed('test/tools'), 'package.json')).resolve(name);

/** Installs them before the first system test, so that no test waits for a download. */
export default function setup(): void {
  installed('test/tools');
}
