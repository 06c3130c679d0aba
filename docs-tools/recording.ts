import { writeFileSync } from 'node:fs';
import { recordKill } from './kill-recording/record-kill.ts';
import { terminalSvg } from './kill-recording/terminal-svg.ts';

/** `npm run docs:recording`: kills a run for real, and writes what the terminal shows as an animated picture. */
const lines = await recordKill('build/kill-recording');
const title =
  'A run is killed in the middle of a tool. Another process continues it and repeats no finished call.';
writeFileSync('docs/images/kill-9.svg', terminalSvg(lines, title));
console.log(`docs/images/kill-9.svg: ${lines.length} lines`);
