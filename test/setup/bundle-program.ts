import { mkdirSync, mkdtempSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { rolldown } from 'rolldown';
import { removeFolder } from './folders.ts';

/**
 * Makes a file of a test program that plain Node can run: Node 20 reads no TypeScript. It is made from the current
 * sources, and lies in the repository because its packages are looked up from there.
 */
export async function bundleProgram(
  input: string,
): Promise<{ readonly file: string; remove(): void }> {
  mkdirSync('build', { recursive: true });
  const folder = mkdtempSync(resolve('build', 'child-'));
  const bundle = await rolldown({
    input,
    platform: 'node',
    external: [/^(?![./]|onward(\/|$))/],
    resolve: { conditionNames: ['onward-source', 'node', 'import', 'default'] },
    logLevel: 'silent',
  });
  const file = join(folder, 'child.mjs');
  await bundle.write({ file, format: 'esm', codeSplitting: false });
  await bundle.close();
  return { file, remove: () => removeFolder(folder) };
}
