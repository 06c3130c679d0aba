import { useEffect, useId, useRef, useState, type ReactElement } from 'react';
import { parseJson, type JsonObject } from '../json.ts';
import { visibleJson } from '../visible-text.ts';
import { EditorForm } from './editor-form.tsx';
import { enter } from './enter-form.ts';
import { part } from './part.ts';
import { useUi } from './ui-context.ts';

export interface ApprovalEditorProps {
  readonly args: JsonObject;
  readonly onApprove: (args: JsonObject) => void;
  readonly onCancel: () => void;
}

/** Arguments as JSON text. Says at once what is wrong with them; Escape leaves without a change. */
export function ApprovalEditor({ args, onApprove, onCancel }: ApprovalEditorProps): ReactElement {
  const { labels } = useUi();
  const [text, setText] = useState(() => visibleJson(JSON.stringify(args, null, 2)));
  const [wasTried, setTried] = useState(false);
  const field = useRef<HTMLTextAreaElement>(null);
  const id = useId();
  useEffect(() => enter(field.current), []);

  const parsed = parseJson(text);
  const isObject =
    parsed.ok &&
    typeof parsed.value === 'object' &&
    parsed.value !== null &&
    !Array.isArray(parsed.value);
  const problem = parsed.ok ? (isObject ? null : labels.notAnObject) : labels.notJson(parsed.error);
  const submit = (): void => {
    setTried(true);
    if (parsed.ok && isObject) onApprove(parsed.value as JsonObject);
    else field.current?.focus();
  };
  return (
    <EditorForm
      submitLabel={labels.approveEdited}
      kind="primary"
      isBlocked={problem !== null}
      onSubmit={submit}
      onCancel={onCancel}
    >
      <label htmlFor={`${id}-args`}>{labels.editArgs}</label>
      <textarea
        ref={field}
        id={`${id}-args`}
        {...part('code-input')}
        value={text}
        rows={Math.min(16, text.split('\n').length + 1)}
        spellCheck={false}
        autoCapitalize="off"
        autoComplete="off"
        aria-invalid={problem !== null}
        aria-describedby={`${id}-hint`}
        onChange={(event) => setText(event.target.value)}
      />
      <p
        id={`${id}-hint`}
        {...part('note')}
        data-problem={problem !== null || undefined}
        role={wasTried && problem !== null ? 'alert' : undefined}
      >
        {problem ?? labels.editHint}
      </p>
    </EditorForm>
  );
}
