import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { rolldown } from 'rolldown';

/** Imports a program of the tests with the current sources, in a form that Node 20 can read. */
export async function testProgram(input) {
  mkdirSync('build', { recursive: true });
  const folder = mkdtempSync(resolve('build', 'program-'));
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
  const bundle = await rolldown({
    input,
    platform: 'node',
    external: [/^(?![./]|onward(\/|$))/],
    resolve: { conditionNames: ['onward-source', 'node', 'import', 'default'] },
    logLevel: 'silent',
  });
  const file = `${folder}/program.mjs`;
  await bundle.write({ file, format: 'esm', codeSplitting: false });
  await bundle.close();
  return import(pathToFileURL(file).href);
}
