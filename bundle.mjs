/**
 * Part of `npm run build`. The sources are many small files, and loading each costs about a millisecond: what is
 * imported together is shipped together. Packages that only some need stay outside.
 */
import { chmodSync, copyFileSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { rolldown } from 'rolldown';

const { exports, bin } = JSON.parse(readFileSync('package.json', 'utf8'));
const entries = Object.values(exports).flatMap((entry) => entry['onward-source'] ?? []);
// the command line has no subpath
entries.push(bin.onward.replace('dist/', 'src/').replace(/\.js$/, '.ts'));
const input = Object.fromEntries(entries.map((file) => [/src\/(.+)\.ts$/.exec(file)[1], file]));

rmSync('dist/chunks', { recursive: true, force: true });
const bundle = await rolldown({
  input,
  external: [
    'openai',
    'eventsource-parser',
    '@photostructure/sqlite',
    'pg',
    'ioredis',
    'bullmq',
    'pusher',
    'react',
    'react/jsx-runtime',
    'jiti',
    /^@modelcontextprotocol\//,
    '@opentelemetry/api',
    /^node:/,
  ],
  // for what the command line is made of; a test holds that the core asks Node for nothing
  platform: 'node',
  resolve: { mainFields: ['module', 'main'] },
  // 'use client' stays in the file, which is all it is for
  onLog: (level, log, next) => {
    if (log.code !== 'MODULE_LEVEL_DIRECTIVE') next(level, log);
  },
});
const { output } = await bundle.write({
  dir: 'dist',
  format: 'esm',
  sourcemap: true,
  // names what is loaded on demand apart from what is shared, also where both have one name
  chunkFileNames: ({ isDynamicEntry }) => `chunks/${isDynamicEntry ? 'lazy-' : ''}[name].js`,
  // small modules that nearly every entry needs, in one file instead of ten
  codeSplitting: {
    groups: [
      // modules beside all others: a page that needs one of them does not load what errors need
      {
        name: 'leaf',
        test: /src\/(?:(?!index|line-feeds)[a-z0-9-]+\.ts|events\/hidden-args|agent\/broadcast-status)/,
        priority: 3,
      },
      {
        name: 'base',
        test: new RegExp(
          `src/(?:${[
            'errors/(?!known-secrets)',
            'agent/agent-status',
            'continuation/(?:stop-reason|grants|grant-text|time-text|explain-status)',
            'events/agent-event',
            'messages/content-part',
            'sessions/(?:check-names|in-time|session-errors|feed/feeds-of|stores/store-errors)',
            'tools/(?:tool-result|progress-text)',
          ].join('|')})`,
        ),
        priority: 2,
      },
      // what `import 'onward'` loads, though the command line shares it: one file instead of six
      {
        name: 'core',
        test: /src\/(?:(?:agent|continuation|events|messages|serialization|tools)\/(?!partial-schema|sourced-tools|step-guards|ask-guards|json-schema\/(?:formats|pattern-run|text-rules))|inference\/[^/]+\.ts|sessions\/[^/]+\.ts)/,
        priority: 1,
      },
    ],
  },
});
await bundle.close();
for (const { fileName, source } of output) {
  if (!fileName.endsWith('.js.map')) continue;
  const map = JSON.parse(source);
  // our sources are in the package: only those of others have to be in the map
  map.sourcesContent = map.sourcesContent.map((text, at) =>
    map.sources[at].includes('node_modules/') ? text : null,
  );
  writeFileSync(`dist/${fileName}`, JSON.stringify(map));
}
chmodSync('dist/cli/main.js', 0o755);
copyFileSync('src/react/styles.css', 'dist/react/styles.css');
// TypeScript refuses an import of which it knows nothing
writeFileSync('dist/react/styles.css.d.ts', 'export {};\n');

// what others wrote goes with its licence; vite does the same for the console
const folders = output
  .flatMap(({ moduleIds = [] }) => moduleIds)
  .flatMap((id) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(id)?.[0] ?? []);
const licences = [...new Set(folders)].toSorted().map((folder) => {
  const { name, version, license, author } = JSON.parse(readFileSync(`${folder}/package.json`));
  const file = `${folder}/LICENSE`;
  const text = existsSync(file)
    ? readFileSync(file, 'utf8')
    : `Copyright (c) ${author?.name ?? author}`;
  return `## ${name} - ${version} (${license})\n\n${text.trim()}\n`;
});
writeFileSync(
  'dist/licenses.txt',
  `# Licenses\n\nThese packages are contained in the files here:\n\n${licences.join('\n')}`,
);
