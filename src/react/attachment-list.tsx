import type { ReactElement } from 'react';
import { isRaster } from '../file-facts.ts';
import { bytesText } from '../number-text.ts';
import { visibleName } from '../visible-text.ts';
import type { Attachments } from './use-attachments.ts';
import { Glyph } from './glyph.tsx';
import { part } from './part.ts';
import type { AttachmentLimits } from './read-attachments.ts';
import { useUi } from './ui-context.ts';

export interface AttachmentListProps {
  readonly attachments: Attachments;
  readonly limits: AttachmentLimits;
}

/** Renders the images and files of a draft, each with a button that removes it, and why others are missing. */
export function AttachmentList({ attachments, limits }: AttachmentListProps): ReactElement | null {
  const { labels } = useUi();
  const { files, problems, remove } = attachments;
  if (files.length === 0 && problems.length === 0) return null;
  return (
    <div {...part('attachments')}>
      {files.length > 0 && (
        <ul {...part('files')} aria-label={labels.attachments}>
          {files.map(({ filename, bytes, media_type: mediaType, data }, i) => (
            <li key={`${i} ${filename}`} {...part('file')}>
              {isRaster(mediaType) ? (
                <img src={`data:${mediaType};base64,${data}`} alt="" />
              ) : (
                <Glyph name="file" />
              )}
              <bdi {...part('file-name')}>{visibleName(filename) || labels.attachments}</bdi>
              <span {...part('file-size')}>{bytesText(bytes)}</span>
              <button
                type="button"
                {...part('button')}
                data-kind="icon"
                aria-label={labels.removeFile(visibleName(filename))}
                onClick={() => remove(i)}
              >
                <Glyph name="close" size={12} />
              </button>
            </li>
          ))}
        </ul>
      )}
      {problems.length > 0 && (
        <p {...part('note')} data-problem="true" role="alert">
          {problems.map((problem) => labels.notAttached(problem, limits)).join(' ')}
        </p>
      )}
    </div>
  );
}
