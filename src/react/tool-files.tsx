import type { ReactElement } from 'react';
import { fileText, isRaster } from '../file-facts.ts';
import type { UiToolFile } from '../ui/ui-message.ts';
import { visibleText } from '../visible-text.ts';
import { part } from './part.ts';
import { safeHref } from './safe-href.ts';

export interface ToolFilesProps {
  readonly files: readonly UiToolFile[];
}

/**
 * Renders the images and files of a result: PNG, JPEG, GIF and WebP images that the message has, and text for all
 * others. An address is a link, and nothing is loaded from it.
 */
export function ToolFiles({ files }: ToolFilesProps): ReactElement {
  return (
    <ul {...part('files')}>
      {files.map((file, i) => (
        <li key={i}>
          <ToolFile file={file} />
        </li>
      ))}
    </ul>
  );
}

function ToolFile({ file }: { readonly file: UiToolFile }): ReactElement {
  const { media_type: mediaType, data, url, ...facts } = file;
  const named = { ...facts, ...(mediaType !== undefined && { mediaType }) };
  const text = visibleText(fileText({ ...named, ...(url !== undefined && { url }) }));
  // a vector image may hold scripts
  if (data !== undefined && mediaType !== undefined && isRaster(mediaType) && isBase64(data))
    return (
      <img {...part('image')} src={`data:${mediaType};base64,${data}`} alt={text} title={text} />
    );
  const href = url === undefined ? null : safeHref(url);
  if (href === null) return <bdi {...part('file')}>{text}</bdi>;
  return (
    <a href={href} target="_blank" rel="noopener noreferrer">
      {text}
    </a>
  );
}

const isBase64 = (data: string): boolean => data !== '' && !/[^\w+/=]/.test(data);
