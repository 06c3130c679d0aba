import { defineConfig, type ViteUserConfig } from 'vitest/config';

const config: ViteUserConfig = defineConfig({
  resolve: { conditions: ['onward-source'] },
  ssr: { resolve: { conditions: ['onward-source'] } },
  test: {
    include: ['src/**/*.test.{ts,tsx}', 'test/**/*.test.{ts,tsx}'],
    setupFiles: ['test/setup/no-fetch.ts'],
    reporters: ['default', './test/setup/count-reporter.ts'],
    coverage: { include: ['src/**'], exclude: ['src/**/*.test.{ts,tsx}'] },
  },
});

export default config;
