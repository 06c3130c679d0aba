import { mkdirSync, mkdtempSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { rolldown } from 'rolldown';
import { removeFolder } from './folders.ts';

/**
 * Bundles a test program for plain Node, because Node 20 reads no TypeScript. It uses the current sources and lies in
 * the repository, where its packages are found.
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
