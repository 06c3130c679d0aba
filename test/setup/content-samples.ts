/** A PNG of one pixel, as base64. */
export const png =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGP4z8DwHwAFAAH/iZk9HQAAAABJRU5ErkJggg==';
export const pdf: string = btoa('%PDF-1.7\n1 0 obj\n<<>>\nendobj\n%%EOF');
export const hostileSvg: string = btoa(
  '<svg xmlns="http://www.w3.org/2000/svg"><script>fetch("https://evil.example")</script></svg>',
);

/** Base64 of a PNG with this many bytes. */
export function largePng(bytes: number): string {
  const head = atob(png);
  const size = Math.ceil((bytes - head.length) / 3) * 3;
  const rest = 'QUJD'.repeat(Math.max(0, size) / 3);
  return btoa(head.padEnd(Math.ceil(head.length / 3) * 3, '\0')) + rest;
}
