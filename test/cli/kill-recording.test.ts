import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { recordKill } from '../../docs-tools/kill-recording/record-kill.ts';
import { linesOfSvg } from '../../docs-tools/kill-recording/terminal-svg.ts';

/** Takes out what differs from run to run: session ids, process ids, durations. */
const steady = (lines: readonly string[]): readonly string[] =>
  lines.map((line) =>
    line
      .replace(/^\$ /, '')
      .replaceAll(/\b[0-9a-f]{8}\b/g, '<session>')
      .replaceAll(/kill -9 \d+/g, 'kill -9 <pid>')
      .replaceAll(/\s*\d+(?:\.\d+)? (?:ms|s)\b/g, ' <time>')
      .replaceAll(/\d+(?:\.\d+)? of 300 seconds/g, '<time> of 300 seconds')
      // the limit is shown only if the work before the kill took no time
      .replaceAll(/ of \d+m \d+s worked/g, ' worked'),
  );

it('D16: the recording in the README shows what the command line does after a SIGKILL', async () => {
  const lines = await recordKill(`build/kill-recording-${process.pid}`);
  const recorded = linesOfSvg(readFileSync('docs/images/kill-9.svg', 'utf8'));
  expect(steady(lines.map(({ text }) => text))).toEqual(steady(recorded));
  const last = lines.findLastIndex(({ text }) => text === 'cat effects.log');
  const effects = lines.slice(last + 1, last + 5).map(({ text }) => text);
  expect(effects).toEqual([
    'charged 89',
    'label 1042: started',
    'label 1042: started',
    'label 1042: printed',
  ]);
}, 120_000);
