/** The server that the tests use; it is written in TypeScript, so it is translated first. */
import { rolldown } from 'rolldown';

const file = 'build/postgres-server.mjs';
const bundle = await rolldown({
  input: 'test/setup/postgres.ts',
  platform: 'node',
  external: [/^[^./]/],
});
await bundle.write({ file, format: 'esm' });
await bundle.close();

export const { startPostgres } = await import(new URL(`../${file}`, import.meta.url).href);
