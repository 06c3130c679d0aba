import { createRequire } from 'node:module';
import { join } from 'node:path';
import { installed } from './installed.ts';

/** Resolves a module of `test/tools`, where the programs are that only system tests run. */
export const toolPath = (name: string): string =>
  createRequire(join(installed('test/tools'), 'package.json')).resolve(name);

/** Installs them before the first system test starts, so that no test waits for the registry. */
export default function setup(): void {
  installed('test/tools');
}
