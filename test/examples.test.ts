import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { fencesOf } from '../docs-tools/markdown.ts';
import { printedBy, steady } from './setup/samples.ts';

const files = readdirSync('examples').filter((file) => file.endsWith('.ts'));

interface Parts {
  /** The model script, from a `// model: …` comment in the first line. */
  readonly model: string | null;
  readonly code: string;
  /** The expected output, from the comment at the end. */
  readonly prints: string;
}

function parts(file: string): Parts {
  const text = readFileSync(`examples/${file}`, 'utf8');
  const [, model = null, code = '', prints = ''] =
    /^(?:\/\/ model: (.*)\n)?([\s\S]*?)\n\/\* prints\n([\s\S]*)\*\/\n$/.exec(text) ?? [];
  return { model, code: code.trim(), prints: steady(prints) };
}

describe('examples', () => {
  it.each(files)('%s prints the output in its last comment', async (file) => {
    const { model, prints } = parts(file);
    expect(prints, 'an example ends with a comment /* prints … */').not.toBe('');
    expect(await printedBy(resolve('examples', file), model)).toBe(prints);
  });

  it('the first README block is the first example with its output', () => {
    const readme = readFileSync('README.md', 'utf8');
    const [first] = fencesOf(readme);
    expect(first?.next?.language).toBe('text');
    expect({
      model: first?.model,
      code: first?.code.trim(),
      prints: steady(first?.next?.code ?? ''),
    }).toEqual(parts('01-hello-agent.ts'));
  });

  it.each(['00-support-agent', '08-print-spans'])('%s prints the same once built', (name) => {
    const { stdout, status } = spawnSync(process.execPath, [`build/examples/${name}.js`], {
      encoding: 'utf8',
    });
    expect(status).toBe(0);
    expect(steady(stdout)).toBe(parts(`${name}.ts`).prints);
  });
});
