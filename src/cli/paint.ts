import { styleText } from 'node:util';
import { visibleLines } from '../visible-text.ts';
import type { CliIo, CliOutput } from './cli-io.ts';

type Style = 'bold' | 'dim' | 'red' | 'green' | 'yellow' | 'blue' | 'cyan';

/** Dresses text for one output; where colours are off it returns the text as it is. */
export type Paint = (style: Style | Style[], text: string) => string;

const plain: Paint = (_style, text) => text;
// the decision is ours: newer versions of Node would look at stdout, whatever the text is for
const coloured: Paint = (style, text) =>
  styleText(style, terminalLine(text), { validateStream: false });

/** `--no-color` and NO_COLOR say no, FORCE_COLOR says yes, else a terminal does. */
export function paintFor(
  output: CliOutput,
  { env }: Pick<CliIo, 'env'>,
  isAllowed: boolean = true,
): Paint {
  if (!isAllowed || env['NO_COLOR']) return plain;
  const force = env['FORCE_COLOR'];
  if (force !== undefined && force !== '')
    return force === '0' || force === 'false' ? plain : coloured;
  return output.isTTY && env['TERM'] !== 'dumb' ? coloured : plain;
}

/** The codes of `paint`, which are the only ones that a line may hold. */
// oxlint-disable-next-line no-control-regex -- these codes begin with a control character
const STYLE = /(\u001b\[\d{1,2}m)/;

/** A line that may be painted, as a terminal gets it: whatever else could steer it is written as an escape. */
export const terminalLine = (line: string): string =>
  line
    .split(STYLE)
    .map((part, i) => (i % 2 === 1 ? part : visibleLines(part)))
    .join('');
