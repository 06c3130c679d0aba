/** Estimates the depth and the number of values of a JSON text, in one pass and without parsing it. */
export function jsonShape(text: string): { readonly depth: number; readonly values: number } {
  let depth = 0;
  let deepest = 0;
  let values = 1;
  for (let i = 0; i < text.length; i += 1) {
    const char = text[i];
    if (char === '"') i = endOfString(text, i);
    else if (char === '{' || char === '[') {
      depth += 1;
      if (depth > deepest) deepest = depth;
      values += 1;
    } else if (char === '}' || char === ']') depth -= 1;
    else if (char === ',') values += 1;
  }
  return { depth: deepest, values };
}

/** Returns the index of the closing quote; the end of the text if there is none. */
function endOfString(text: string, start: number): number {
  let i = start + 1;
  while (i < text.length && text[i] !== '"') i += text[i] === '\\' ? 2 : 1;
  return i;
}
