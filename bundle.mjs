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
const options = {
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
    'vitest',
    'yaml',
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
};

/** Returns the modules that an import of these sources loads at once, without what they load on demand. */
async function loadedBy(...files) {
  const bundle = await rolldown({ ...options, input: files });
  const { output: parts } = await bundle.generate();
  await bundle.close();
  const modules = new Set();
  const seen = new Set();
  const visit = (part) => {
    if (!part || seen.has(part)) return;
    seen.add(part);
    for (const [id, { renderedLength }] of Object.entries(part.modules))
      if (renderedLength > 0) modules.add(id);
    for (const name of part.imports) visit(parts.find(({ fileName }) => fileName === name));
  };
  for (const part of parts) if (part.isEntry) visit(part);
  return modules;
}

const ofCore = await loadedBy(input.index);
const inCore = (modules) => {
  const folder = new RegExp(`/src/(?:${modules})/`);
  return (id) => ofCore.has(id) && folder.test(id);
};

const bundle = await rolldown({ ...options, input });
const { output } = await bundle.write({
  dir: 'dist',
  format: 'esm',
  sourcemap: true,
  // the type declarations have them, and an import reads what is here
  comments: { annotation: true, jsdoc: false, legal: true },
  // names what is loaded on demand apart from what is shared, also where both have one name
  chunkFileNames: ({ isDynamicEntry }) => `chunks/${isDynamicEntry ? 'lazy-' : ''}[name].js`,
  // small modules that nearly every entry needs, in one file instead of ten
  codeSplitting: {
    groups: [
      // modules beside all others: a page that needs one of them does not load what errors need
      {
        name: 'leaf',
        test: /src\/(?:(?!index|line-feeds)[a-z0-9-]+\.ts|events\/(?:hidden-args|compaction-text)|agent\/broadcast-status)/,
        priority: 3,
      },
      {
        name: 'base',
        test: new RegExp(
          `src/(?:${[
            'errors/(?!known-secrets)',
            'agent/(?:agent-status|compaction\\.ts)',
            'continuation/(?:stop-reason|grants|grant-text|time-text|explain-status)',
            'events/agent-event',
            'messages/content-part',
            'inference/usage',
            'sessions/(?:attention|begins-of|check-names|event-log|grant-policy|imported-session|in-time|large-values|list-cursor|retry-record|row-reader|run-record|session-errors|session-query|session-reads|session-rows|step-marks|worker-description|feed/feeds-of|stores/store-errors)',
            'tools/(?:json-schema-check|json-schema/(?!formats|pattern-run|text-rules)|tool-result|progress-text)',
          ].join('|')})`,
        ),
        priority: 2,
      },
      // the rest of what `import 'onward'` loads, in two files instead of dozens. A bundler keeps what the lazy parts of
      // a file need with the file, so that what the server shares is apart
      { name: 'core', test: inCore('continuation|events|messages'), priority: 1 },
      { name: 'agent', test: inCore('agent|inference|tools|serialization|sessions'), priority: 1 },
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

// what others wrote goes with its license; vite does the same for the console
const folders = output
  .flatMap(({ moduleIds = [] }) => moduleIds)
  .flatMap((id) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(id)?.[0] ?? []);
const licenses = [...new Set(folders)].toSorted().map((folder) => {
  const { name, version, license, author } = JSON.parse(readFileSync(`${folder}/package.json`));
  const file = `${folder}/LICENSE`;
  const text = existsSync(file)
    ? readFileSync(file, 'utf8')
    : `Copyright (c) ${author?.name ?? author}`;
  return `## ${name} - ${version} (${license})\n\n${text.trim()}\n`;
});
writeFileSync(
  'dist/licenses.txt',
  `# Licenses\n\nThese packages are contained in the files here:\n\n${licenses.join('\n')}`,
);
