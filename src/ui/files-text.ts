import type { UiMessage } from './ui-message.ts';

interface NamedFile {
  readonly type: string;
  readonly filename?: string;
}

/** Names images and files for clients that show only text: "[image] [file a.pdf]". */
export const filesText = (files: readonly NamedFile[]): string =>
  files
    .map(({ type, filename }) =>
      type === 'file' ? `[file${filename ? ` ${filename}` : ''}]` : `[${type}]`,
    )
    .join(' ');

/** Returns the text of a message beside its images and files; '' if it only names them. */
export function textBeside({ content, metadata: { files } }: UiMessage): string {
  return files && content === filesText(files) ? '' : content;
}
