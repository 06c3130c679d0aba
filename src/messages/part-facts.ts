import { fileFacts, type FileFacts } from '../file-facts.ts';
import { sha256 } from '../sha256.ts';
import type { FilePart, ImagePart } from './content-part.ts';

/** An image or a file without its bytes, as records keep it. */
export interface PartFacts extends FileFacts {
  /** The same for the same bytes. */
  readonly hash?: string;
}

export const partFacts = (part: ImagePart | FilePart): PartFacts => ({
  ...fileFacts(part),
  ...(part.data !== undefined && { hash: sha256(part.data) }),
});
