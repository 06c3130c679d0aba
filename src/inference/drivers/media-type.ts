import type { FilePart, ImagePart } from '../../messages/content-part.ts';

/** How base64 of a known format begins. */
const beginnings: readonly (readonly [beginning: string, mediaType: string])[] = [
  ['iVBORw0KGgo', 'image/png'],
  ['/9j/', 'image/jpeg'],
  ['R0lGOD', 'image/gif'],
  ['UklGR', 'image/webp'],
  ['JVBERi0', 'application/pdf'],
];

/** The media type that a part tells, or that its bytes show: providers refuse data without one. */
export function mediaTypeOf({ type, mediaType, data = '' }: ImagePart | FilePart): string {
  if (mediaType) return mediaType;
  const known = beginnings.find(([beginning]) => data.startsWith(beginning))?.[1];
  return known ?? (type === 'image' ? 'image/png' : 'application/octet-stream');
}
