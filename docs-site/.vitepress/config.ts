import { copyFileSync, cpSync, readdirSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';

const root = resolve(import.meta.dirname, '../..');
const docs = `${root}/docs`;

interface Token {
  type: string;
  content: string;
  readonly children: readonly Token[] | null;
  attrGet(name: string): string | null;
  attrSet(name: string, value: string): void;
}

interface MarkdownRenderer {
  readonly core: {
    readonly ruler: {
      push(name: string, rule: (state: { readonly tokens: readonly Token[] }) => void): void;
    };
  };
}

/** Reads sections and pages of the index, so that the site has the order that the repository shows. */
const guides = readFileSync(`${docs}/README.md`, 'utf8')
  .split(/^## /m)
  .slice(1)
  .map((section) => ({
    text: section.split('\n', 1)[0],
    items: [...section.matchAll(/^\| \[([^\]]+)\]\(([^)#]+)\.md\)/gm)].map(
      ([, text = '', page = '']) => ({ text, link: `/${page.replace(/README$/, '')}` }),
    ),
  }));

const api = readdirSync(`${docs}/api`)
  .filter((file) => file !== 'README.md')
  .map((file) => ({
    text: /^# `?([^`\n]+)/.exec(readFileSync(`${docs}/api/${file}`, 'utf8'))?.[1] ?? file,
    link: `/api/${file.slice(0, -'.md'.length)}`,
  }));

/** Makes code in sentences no template of Vue, and links to sources, tests and examples plain text. */
function adapt(md: MarkdownRenderer): void {
  md.core.ruler.push('repository', ({ tokens }) => {
    for (const { children } of tokens) {
      let isOutside = false;
      for (const token of children ?? []) {
        if (token.type === 'code_inline') token.attrSet('v-pre', '');
        if (token.type === 'link_open')
          isOutside = /^(?:\.\.\/)+(?!api\/|[\w-]+\.md)/.test(token.attrGet('href') ?? '');
        if (!isOutside || !token.type.startsWith('link_')) continue;
        token.type = 'text';
        token.content = '';
      }
    }
  });
}

export default {
  title: 'Onward',
  description:
    'A framework for production LLM agents: every run explains why it continued and why it stopped.',
  srcDir: docs,
  outDir: `${root}/build/docs-site`,
  cacheDir: `${root}/build/docs-site-cache`,
  rewrites: { 'README.md': 'index.md', 'api/README.md': 'api/index.md' },
  cleanUrls: true,
  // pages beside the folder, such as the changelog
  ignoreDeadLinks: [/^(?:\.\/)?\.\.\/[A-Z]/],
  markdown: { config: adapt },
  themeConfig: {
    nav: [
      { text: 'Guides', link: '/' },
      { text: 'API', link: '/api/' },
    ],
    sidebar: { '/': guides, '/api/': [{ text: 'API reference', items: api }] },
    outline: { level: [2, 3] },
    search: { provider: 'local' },
  },
  /** Coding assistants read the plain pages, which llms.txt names. */
  buildEnd({ outDir }: { readonly outDir: string }): void {
    copyFileSync(`${root}/llms.txt`, `${outDir}/llms.txt`);
    cpSync(docs, `${outDir}/docs`, {
      recursive: true,
      filter: (file) => !/\.[a-z]+$/.test(file) || file.endsWith('.md'),
    });
  },
};
