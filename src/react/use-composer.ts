import {
  useLayoutEffect,
  useRef,
  useState,
  type ChangeEvent,
  type Dispatch,
  type FormEvent,
  type KeyboardEvent,
  type RefObject,
  type SetStateAction,
} from 'react';

export interface ComposerOptions {
  readonly onSend: (text: string) => unknown;
  /** Whether there is something to send beside the text. */
  readonly hasMore?: boolean;
  /** Whether sending is blocked. The draft stays. */
  readonly isBlocked: boolean;
  readonly fieldRef?: RefObject<HTMLTextAreaElement | null> | undefined;
}

export interface ComposerState {
  readonly text: string;
  readonly setText: Dispatch<SetStateAction<string>>;
  readonly canSend: boolean;
  readonly onSubmit: (event: FormEvent) => void;
  /** Props of the textarea. */
  readonly field: {
    readonly ref: RefObject<HTMLTextAreaElement | null>;
    readonly rows: 1;
    readonly value: string;
    readonly enterKeyHint: 'send';
    readonly onChange: (event: ChangeEvent<HTMLTextAreaElement>) => void;
    readonly onKeyDown: (event: KeyboardEvent) => void;
  };
}

/** Creates the state of a field that grows with its text: Enter sends, Shift+Enter adds a new line. */
export function useComposer({
  onSend,
  isBlocked,
  hasMore = false,
  fieldRef,
}: ComposerOptions): ComposerState {
  const [text, setText] = useState('');
  const own = useRef<HTMLTextAreaElement>(null);
  const ref = fieldRef ?? own;
  useLayoutEffect(() => grow(ref.current), [text, ref]);

  const canSend = !isBlocked && (hasMore || text.trim() !== '');
  const send = (): void => {
    if (!canSend) return;
    onSend(text.trim());
    setText('');
  };
  const onSubmit = (event: FormEvent): void => {
    event.preventDefault();
    send();
    ref.current?.focus();
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    // an Enter that ends a composition belongs to the input method; Safari shows it only by keyCode
    // 229
    const { isComposing, keyCode } = event.nativeEvent;
    if (event.key !== 'Enter' || event.shiftKey || isComposing || keyCode === 229) return;
    event.preventDefault();
    send();
  };
  const field = {
    ref,
    rows: 1,
    value: text,
    enterKeyHint: 'send',
    onChange: (event: ChangeEvent<HTMLTextAreaElement>): void => setText(event.target.value),
    onKeyDown,
  } as const;
  return { text, setText, canSend, onSubmit, field };
}

/** Sets the height to that of the text; the stylesheet sets the maximum. */
function grow(field: HTMLTextAreaElement | null): void {
  if (!field) return;
  field.style.height = 'auto';
  field.style.height = `${field.scrollHeight}px`;
}
