import { rolldown } from 'rolldown';

/** A module of `test/setup`, such as the servers that tests start. It is written in TypeScript, so it is translated first. */
export async function testSetup(name) {
  const file = `build/test-setup-${name}.mjs`;
  const bundle = await rolldown({
    input: `test/setup/${name}.ts`,
    platform: 'node',
    external: [/^[^./]/],
  });
  await bundle.write({ file, format: 'esm' });
  await bundle.close();
  return import(new URL(`../${file}`, import.meta.url).href);
}
