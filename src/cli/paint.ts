import { styleText } from 'node:util';
import type { CliIo, CliOutput } from './cli-io.ts';

type Style = 'bold' | 'dim' | 'red' | 'green' | 'yellow' | 'blue' | 'cyan';

/** Dresses text for one output; where colours are off it returns the text as it is. */
export type Paint = (style: Style | Style[], text: string) => string;

const plain: Paint = (_style, text) => text;
// the decision is ours: newer versions of Node would look at stdout, whatever the text is for
const coloured: Paint = (style, text) => styleText(style, text, { validateStream: false });

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

/**
 * What models, tools and users wrote, as a terminal may show it: without the characters that move its cursor, change its
 * colours or turn the direction of the text.
 */
export const printable = (text: string): string => text.replace(UNSAFE, '');

// oxlint-disable-next-line no-control-regex -- control characters are what is taken out
const UNSAFE = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g;
