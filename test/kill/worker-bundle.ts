import { mkdirSync, mkdtempSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { rolldown } from 'rolldown';
import { removeFolder } from '../setup/folders.ts';

/**
 * The worker as a file that plain Node can run: Node 20 reads no TypeScript. Made from the sources as they are, so it
 * is never older than they. It lies in the repository, because its packages are looked up from there.
 */
export async function bundleWorker(
  input: string = 'test/kill/kill-worker.ts',
): Promise<{ readonly file: string; remove(): void }> {
  mkdirSync('build', { recursive: true });
  const folder = mkdtempSync(resolve('build', 'kill-'));
  const bundle = await rolldown({
    input,
    platform: 'node',
    external: [/^(?![./]|onward(\/|$))/],
    resolve: { conditionNames: ['onward-source', 'node', 'import', 'default'] },
    logLevel: 'silent',
  });
  const file = join(folder, 'kill-worker.mjs');
  await bundle.write({ file, format: 'esm', codeSplitting: false });
  await bundle.close();
  return { file, remove: () => removeFolder(folder) };
}
