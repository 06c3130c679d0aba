import { bytesText, counted } from '../number-text.ts';
import { visibleName } from '../visible-text.ts';
import type { AttachmentLimits, AttachmentProblem } from './read-attachments.ts';

/** Says why a file was not attached, and what is possible. */
export function attachmentProblemText(
  { filename, bytes, reason }: AttachmentProblem,
  { maxBytes, maxCount }: AttachmentLimits,
): string {
  const name = visibleName(filename);
  if (reason === 'empty') return `${name} is empty.`;
  if (reason === 'unreadable') return `${name} cannot be read. Choose it again.`;
  if (reason === 'count')
    return `${name} is one too many: send ${counted(maxCount, 'file')} at a time.`;
  return `${name} is too large (${bytesText(bytes)}): all files of a message may have ${bytesText(maxBytes)}.`;
}
