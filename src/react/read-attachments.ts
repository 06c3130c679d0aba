import { isRaster } from '../file-facts.ts';
import type { SentFile } from '../ui/sources/session-actions.ts';

/** Bounds of the images and files of one message. */
export interface AttachmentLimits {
  /** Bytes of all together. */
  readonly maxBytes: number;
  /** Number of them. */
  readonly maxCount: number;
}

/** Why a file was not attached. */
export interface AttachmentProblem {
  readonly filename: string;
  readonly bytes: number;
  readonly reason: 'size' | 'count' | 'empty' | 'unreadable';
}

export interface ReadAttachments {
  readonly files: readonly SentFile[];
  readonly problems: readonly AttachmentProblem[];
}

/** Longest name that is sent, in characters. */
const MAX_NAME = 200;
/** Media types that a message may name; any other is sent as bytes. */
const mediaTypes = /^[\w.+-]{1,100}\/[\w.+-]{1,100}$/;

/** Reads files for a message, in order, as far as the limits allow. Nothing is fetched from an address. */
export async function readAttachments(
  chosen: readonly File[],
  before: readonly SentFile[],
  { maxBytes, maxCount }: AttachmentLimits,
): Promise<ReadAttachments> {
  const files: SentFile[] = [];
  const problems: AttachmentProblem[] = [];
  let left = before.reduce((space, { bytes }) => space - bytes, maxBytes);
  for (const file of chosen) {
    const { size: bytes } = file;
    const filename = file.name.slice(-MAX_NAME);
    const refuse = (reason: AttachmentProblem['reason']): void =>
      void problems.push({ filename, bytes, reason });
    if (before.length + files.length >= maxCount) refuse('count');
    else if (bytes === 0) refuse('empty');
    else if (bytes > left) refuse('size');
    else
      try {
        const data = base64Of(new Uint8Array(await file.arrayBuffer()));
        const media_type = mediaTypes.test(file.type) ? file.type : 'application/octet-stream';
        files.push({
          type: isRaster(media_type) ? 'image' : 'file',
          data,
          media_type,
          filename,
          bytes,
        });
        left -= bytes;
      } catch {
        refuse('unreadable');
      }
  }
  return { files, problems };
}

/** Bytes that are converted at once: more arguments than this overflow the stack. */
const PIECE = 32_766;

function base64Of(bytes: Uint8Array): string {
  let text = '';
  for (let i = 0; i < bytes.length; i += PIECE)
    text += btoa(String.fromCharCode(...bytes.subarray(i, i + PIECE)));
  return text;
}
