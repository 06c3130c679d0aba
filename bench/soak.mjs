/** Breaks workers and stores for as long as you like; for the options: npm run soak -- --help */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { rolldown } from 'rolldown';

mkdirSync('build', { recursive: true });
const folder = mkdtempSync(resolve('build', 'soak-'));
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
// the same code as the tests run, in a form that Node 20 can read
const bundle = await rolldown({
  input: 'test/kill/soak.ts',
  platform: 'node',
  external: [/^(?![./]|onward(\/|$))/],
  resolve: { conditionNames: ['onward-source', 'node', 'import', 'default'] },
  logLevel: 'silent',
});
const file = `${folder}/soak.mjs`;
await bundle.write({ file, format: 'esm', codeSplitting: false });
await bundle.close();
const { soak } = await import(pathToFileURL(file).href);
process.exitCode = await soak(process.argv.slice(2));
