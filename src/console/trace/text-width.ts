const widths: readonly number[] = Array.from({ length: 0x250 }, (_, code) =>
  charWidth(String.fromCharCode(code)),
);

/** Estimates the maximum width of a text of 11 px, because fonts differ between machines. */
export function textWidth(text: string): number {
  let width = 0;
  for (let i = 0; i < text.length; i++) width += widths[text.charCodeAt(i)] ?? 11.5;
  return Math.ceil(width);
}

function charWidth(char: string): number {
  if (/[ijl.,:;'|!·]/.test(char)) return 3.6;
  if (/[ftr ()/[\]]/.test(char)) return 4.6;
  if (/[mwMW@%]/.test(char)) return 10.6;
  return /[A-Z]/.test(char) ? 8.2 : 6.9;
}
