import { useRef, useState, type ClipboardEvent, type DragEvent } from 'react';
import type { SentFile } from '../ui/sources/session-actions.ts';
import {
  readAttachments,
  type AttachmentLimits,
  type AttachmentProblem,
} from './read-attachments.ts';

export interface Attachments {
  readonly files: readonly SentFile[];
  readonly problems: readonly AttachmentProblem[];
  /** Whether files are dragged over the form. */
  readonly isOver: boolean;
  readonly add: (chosen: readonly File[]) => void;
  readonly remove: (index: number) => void;
  readonly clear: () => void;
  /** Props of the form; empty where nothing can be attached. */
  readonly area: {
    readonly onPaste?: (event: ClipboardEvent) => void;
    readonly onDragOver?: (event: DragEvent) => void;
    readonly onDragLeave?: () => void;
    readonly onDrop?: (event: DragEvent) => void;
  };
}

/** Keeps the images and files of a draft: chosen, pasted or dropped. Null limits: nothing can be attached. */
export function useAttachments(limits: AttachmentLimits | null): Attachments {
  const [files, setFiles] = useState<readonly SentFile[]>([]);
  const [problems, setProblems] = useState<readonly AttachmentProblem[]>([]);
  const [isOver, setOver] = useState(false);
  const now = useRef(files);
  const reading = useRef(Promise.resolve());
  const put = (next: readonly SentFile[]): void => {
    now.current = next;
    setFiles(next);
  };
  const add = (chosen: readonly File[]): void => {
    if (!limits || chosen.length === 0) return;
    setProblems([]);
    // one selection after the other, so that together they stay within the limits
    reading.current = reading.current.then(async () => {
      const read = await readAttachments(chosen, now.current, limits);
      put([...now.current, ...read.files]);
      setProblems(read.problems);
    });
  };
  const taken = ({ files: list }: DataTransfer): readonly File[] => Array.from(list);
  const area: Attachments['area'] = limits
    ? {
        onPaste: (event) => {
          const pasted = taken(event.clipboardData);
          // text beside a picture, as word processors copy it, stays text
          if (pasted.length === 0 || event.clipboardData.types.includes('text/plain')) return;
          event.preventDefault();
          add(pasted);
        },
        onDragOver: (event) => {
          if (!event.dataTransfer.types.includes('Files')) return;
          event.preventDefault();
          setOver(true);
        },
        onDragLeave: () => setOver(false),
        onDrop: (event) => {
          setOver(false);
          const dropped = taken(event.dataTransfer);
          if (dropped.length === 0) return;
          event.preventDefault();
          add(dropped);
        },
      }
    : {};
  return {
    files,
    problems,
    isOver,
    add,
    remove: (index) => put(now.current.toSpliced(index, 1)),
    clear: () => {
      put([]);
      setProblems([]);
    },
    area,
  };
}
