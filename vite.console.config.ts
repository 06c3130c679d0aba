import react from '@vitejs/plugin-react';
import { resolve } from 'node:path';
import { defineConfig, type UserConfig } from 'vite';

/** Part of `npm run build`: the console as files that the server hands out as they are. */
const config: UserConfig = defineConfig({
  root: 'src/console',
  // relative, so that it can be served under any path
  base: './',
  plugins: [react()],
  build: {
    outDir: resolve(process.env['ONWARD_CONSOLE_OUT'] ?? 'dist/console'),
    emptyOutDir: true,
    target: 'es2022',
    sourcemap: false,
    // the pages' policy is `default-src 'self'`: nothing inline, not even a small picture
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    license: { fileName: 'licenses.txt' },
    // React changes more rarely than the console: a browser keeps it. What only a page needs stays with the page
    rolldownOptions: {
      output: {
        codeSplitting: {
          groups: [{ name: 'packages', test: /node_modules\/(?:react|react-dom|scheduler)\// }],
        },
      },
    },
  },
});

export default config;
