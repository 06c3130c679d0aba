import type { TerminalLine } from './record-kill.ts';

const lineHeight = 19;
const padding = { x: 20, top: 48, bottom: 18 };
/** How long the picture waits at most where the terminal waited longer, and how long it shows the end. */
const longestGapMs = 2_500;
const commandMs = 900;
const endMs = 9_000;

const colors = {
  command: '#f4f4f5',
  output: '#b9bcc4',
  error: '#ff8f8f',
  note: '#7c818c',
} as const;

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

interface Shown {
  readonly atMs: number;
  readonly kind: keyof typeof colors;
  readonly text: string;
}

/** Shortens long waits, says so in a line of its own, and gives each command time to be read. */
function timeline(lines: readonly TerminalLine[]): readonly Shown[] {
  const shown: Shown[] = [];
  let now = 300;
  let before = 0;
  for (const line of lines) {
    const gap = line.atMs - before;
    if (gap > longestGapMs) {
      const seconds = (gap / 1_000).toFixed(1);
      shown.push({
        atMs: now + 400,
        kind: 'note',
        text: `  … ${seconds} s later`,
      });
    }
    now += Math.min(gap, longestGapMs) + (line.kind === 'command' ? commandMs : 60);
    before = line.atMs;
    shown.push({
      ...line,
      atMs: now,
      text: line.kind === 'command' ? `$ ${line.text}` : line.text,
    });
  }
  return shown;
}

/** Draws a recorded terminal as an animated SVG. Where animation is off or reduced, it shows all lines. */
export function terminalSvg(lines: readonly TerminalLine[], title: string): string {
  const shown = timeline(lines);
  const total = (shown.at(-1)?.atMs ?? 0) + endMs;
  const columns = Math.max(...shown.map(({ text }) => [...text].length));
  const width = Math.ceil(columns * 8.43) + 2 * padding.x;
  const height = padding.top + shown.length * lineHeight + padding.bottom;
  const frames = shown.map(({ atMs }, i) => {
    const from = ((atMs / total) * 100).toFixed(2);
    return `@keyframes l${i}{0%,${from}%{opacity:0}${from}1%,100%{opacity:1}}#l${i}{animation:l${i} ${total}ms step-end infinite}`;
  });
  const texts = shown.map(
    ({ kind, text }, i) =>
      `<text id="l${i}" x="${padding.x}" y="${padding.top + (i + 1) * lineHeight - 5}" fill="${colors[kind]}">${escaped(text)}</text>`,
  );
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img" aria-label="${escaped(title)}">
<title>${escaped(title)}</title>
<style>text{font:14px ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace;white-space:pre}
@media (prefers-reduced-motion:no-preference){${frames.join('')}}</style>
<rect width="${width}" height="${height}" rx="10" fill="#17181c"/>
<circle cx="24" cy="22" r="6" fill="#3a3d45"/><circle cx="44" cy="22" r="6" fill="#3a3d45"/><circle cx="64" cy="22" r="6" fill="#3a3d45"/>
${texts.join('\n')}
</svg>
`;
}

/** Returns the lines of such a picture, without the notes about shortened waits. */
export const linesOfSvg = (svg: string): readonly string[] =>
  [...svg.matchAll(/<text [^>]*fill="([^"]+)">([^<]*)<\/text>/g)]
    .filter(([, color]) => color !== colors.note)
    .map(([, , text = '']) =>
      text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&'),
    );
