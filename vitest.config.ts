import { defineConfig, type ViteUserConfig } from 'vitest/config';

const config: ViteUserConfig = defineConfig({
  resolve: { conditions: ['onward-source'] },
  ssr: { resolve: { conditions: ['onward-source'] } },
  test: {
    include: ['src/**/*.test.{ts,tsx}', 'test/**/*.test.{ts,tsx}'],
    setupFiles: ['test/setup/no-fetch.ts', 'test/setup/patient-dom.ts'],
    // a busy machine is slow, not wrong: these only end what hangs
    testTimeout: 30_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 15_000 } },
    reporters: ['default', './test/setup/count-reporter.ts'],
    coverage: { include: ['src/**'], exclude: ['src/**/*.test.{ts,tsx}'] },
  },
});

export default config;
