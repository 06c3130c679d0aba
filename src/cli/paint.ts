import { styleText } from 'node:util';
import { visibleLines } from '../visible-text.ts';
import type { CliIo, CliOutput } from './cli-io.ts';

type Style = 'bold' | 'dim' | 'red' | 'green' | 'yellow' | 'blue' | 'cyan';

/** Styles text for one output; without colors it returns the text unchanged. */
export type Paint = (style: Style | Style[], text: string) => string;

const plain: Paint = (_style, text) => text;
// decide here: newer versions of Node check stdout, whatever the text is for
const colored: Paint = (style, text) =>
  styleText(style, terminalLine(text), { validateStream: false });

/** Chooses colors: `--no-color` and NO_COLOR disable them, FORCE_COLOR enables them, else a terminal does. */
export function paintFor(
  output: CliOutput,
  { env }: Pick<CliIo, 'env'>,
  isAllowed: boolean = true,
): Paint {
  if (!isAllowed || env['NO_COLOR']) return plain;
  const force = env['FORCE_COLOR'];
  if (force !== undefined && force !== '')
    return force === '0' || force === 'false' ? plain : colored;
  return output.isTTY && env['TERM'] !== 'dumb' ? colored : plain;
}

/** The codes of `paint`, the only ones that a line may contain. */
// oxlint-disable-next-line no-control-regex -- these codes begin with a control character
const STYLE = /(\u001b\[\d{1,2}m)/;

/** Returns a painted line for a terminal: any other control character is escaped. */
export const terminalLine = (line: string): string =>
  line
    .split(STYLE)
    .map((part, i) => (i % 2 === 1 ? part : visibleLines(part)))
    .join('');
