import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { printedBy, steady } from './setup/samples.ts';

const files = readdirSync('examples').filter((file) => file.endsWith('.ts'));

/** Code, and the comment at the end that promises what it prints. */
function parts(file: string): { readonly code: string; readonly prints: string } {
  const text = readFileSync(`examples/${file}`, 'utf8');
  const [, code = '', prints = ''] = /^([\s\S]*?)\n\/\* prints\n([\s\S]*)\*\/\n$/.exec(text) ?? [];
  return { code: code.trim(), prints: steady(prints) };
}

describe('examples', () => {
  it.each(files)('%s prints what it promises', async (file) => {
    const { prints } = parts(file);
    expect(prints, 'an example ends with a comment /* prints … */').not.toBe('');
    expect(await printedBy(resolve('examples', file))).toBe(prints);
  });

  it('the first block of the README is the first example, with what it prints', () => {
    const readme = readFileSync('README.md', 'utf8');
    const [, code, prints] = /```ts\n([\s\S]*?)```\s*```text\n([\s\S]*?)```/.exec(readme) ?? [];
    const example = parts('01-hello-agent.ts');
    expect(code?.trim()).toBe(example.code);
    expect(steady(prints ?? '')).toBe(example.prints);
  });

  it('the built support agent runs to its explanation', () => {
    const { stdout, status } = spawnSync(process.execPath, ['build/examples/00-support-agent.js'], {
      encoding: 'utf8',
    });
    expect(status).toBe(0);
    expect(steady(stdout)).toBe(parts('00-support-agent.ts').prints);
  });
});
