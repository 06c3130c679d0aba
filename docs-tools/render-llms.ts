import { readFileSync } from 'node:fs';

/** Writes the index of the docs for coding assistants, in the format of llms.txt, from the pages of docs/README.md. */
export function renderLlms(): string {
  const sections = readFileSync('docs/README.md', 'utf8').split(/^## /m).slice(1);
  const lists = sections.map((section) => {
    const [title = ''] = section.split('\n', 1);
    const pages = [...section.matchAll(/^\| \[([^\]]+)\]\(([^)]+)\)\s*\|\s*(.*?)\s*\|$/gm)];
    const lines = pages.map(([, name, file, answers]) => `- [${name}](docs/${file}): ${answers}`);
    return `## ${title}\n\n${lines.join('\n')}\n`;
  });
  const summary = /^Onward is .*$/m.exec(readFileSync('README.md', 'utf8'))?.[0] ?? '';
  return `# Onward\n\n> ${summary}\n\nEvery \`ts\` sample is run by a test. The API reference lists every public name with its types.\n\n${lists.join('\n')}
## More

- [Changelog](CHANGELOG.md): what changed, with old and new names
- [From 0.1 to 0.2](MIGRATION.md): what to change in your code
`;
}
