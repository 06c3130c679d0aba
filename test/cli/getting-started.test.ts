import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { install, Running, type Ended, type Installed } from './install.ts';

const page = readFileSync('docs/getting-started.md', 'utf8');

/** Returns the first code block of a language after a text of the page. */
function blockAfter(words: string, kind: string): string {
  const at = page.indexOf(words);
  const [, text] = new RegExp(`\`\`\`${kind}\\n([\\s\\S]*?)\`\`\``).exec(page.slice(at)) ?? [];
  if (at < 0 || text === undefined) throw new Error(`No ${kind} block behind "${words}".`);
  return text;
}

/** Replaces times, which differ between runs. */
const steady = (text: string): string =>
  text.replaceAll(/\d[\d.]* (ms|s)\b/g, 'TIME').replaceAll(/[\d.]+ of 300 seconds/g, 'SECONDS');
const words = (text: string): string[] =>
  steady(text)
    .split('\n')
    .map((line) => line.trim().replaceAll(/ +/g, ' '))
    .filter((line) => line !== '');

describe('the tutorial in docs/getting-started.md', () => {
  let installed: Installed;
  beforeAll(async () => void (installed = await install()), 60_000);
  afterAll(() => installed.remove());

  it('prints the output of the page from the limit to the end', async () => {
    const cwd = installed.project({ 'onward.config.mjs': blockAfter('## 2.', 'js') });
    const onward = (...argv: readonly string[]): Promise<Ended> =>
      new Running(installed.main, cwd, argv).ended;
    const commands = blockAfter('on the command line', 'sh');
    const [, message = ''] = /run "(.*)"/.exec(commands) ?? [];

    expect((await onward('run', message)).code).toBe(10);
    const explained = await onward('explain', 'last');
    for (const line of words(blockAfter('What `explain` prints', 'text')))
      expect(words(explained.stdout)).toContain(line);
    expect(page.replaceAll(/\*\*|\n> /g, (found) => (found === '**' ? '' : ' '))).toContain(
      explained.stdout.split('\n').find((line) => line.startsWith('Stopped because')),
    );

    const [, grant = ''] = /--grant (\S+)/.exec(commands) ?? [];
    expect((await onward('resume', 'last', '--grant', grant)).code).toBe(7);
    const { code, stdout } = await onward('approve', 'last');
    expect(code).toBe(0);
    expect(page).toContain(`_${stdout.trim()}_ Completed, in five steps.`);
  }, 60_000);
});
