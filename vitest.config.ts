import { resolve } from 'node:path';
import { defineConfig, type ViteUserConfig } from 'vitest/config';

/** Tests that start processes, open databases, read `dist`, measure time, or take seconds. */
const system = [
  'src/sessions/stores/{postgres,sqlite}{*,/**/*}.test.ts',
  'test/*/**/*.test.{ts,tsx}',
  'test/{every-exit,provider-chaos,fallback-chaos,growth,samples-under-load,families-at-random}.test.ts',
  'test/{docs,docs-fragments,examples,edge,knip,optional-packages}.test.ts',
];

const config: ViteUserConfig = defineConfig({
  resolve: {
    conditions: ['onward-source'],
    alias: { 'fast-check': resolve('test/setup/seeded-fast-check.ts') },
  },
  ssr: { resolve: { conditions: ['onward-source'] } },
  test: {
    setupFiles: [
      'test/setup/no-fetch.ts',
      'test/setup/patient-dom.ts',
      ...(process.env['ONWARD_REPLAY'] ? ['test/setup/replay-every-run.ts'] : []),
    ],
    // a busy machine is slow, not wrong: these only end what hangs
    testTimeout: 30_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 15_000 } },
    reporters: ['default', './test/setup/count-reporter.ts'],
    coverage: { include: ['src/**'], exclude: ['src/**/*.test.{ts,tsx}'] },
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          include: ['src/**/*.test.{ts,tsx}', 'test/*.test.ts'],
          exclude: system,
          // loading the sources once per worker takes a quarter of the time of once per file
          isolate: false,
          maxWorkers: 2,
          sequence: { groupOrder: 0 },
        },
      },
      {
        extends: true,
        test: {
          name: 'system',
          include: system,
          globalSetup: 'test/setup/test-tools.ts',
          // most of them wait for processes and databases
          maxWorkers: 3,
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
});

export default config;
