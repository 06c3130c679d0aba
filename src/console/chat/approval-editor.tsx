import { useEffect, useId, useRef, useState, type KeyboardEvent, type ReactElement } from 'react';
import type { JsonObject } from '../../json.ts';
import { sameJson } from '../../json.ts';
import { visibleName } from '../../visible-text.ts';
import { Glyph } from '../glyphs.tsx';
import {
  changesText,
  fieldsOf,
  fieldText,
  readField,
  type ArgField,
  type Change,
} from './approval-text.ts';

export interface ApprovalEditorProps {
  readonly args: JsonObject;
  /** An answer is on its way: what was typed stays. */
  readonly isSending: boolean;
  /** Without arguments where nothing was changed. */
  readonly onApprove: (args?: JsonObject) => void;
  readonly onCancel: () => void;
}

/** Arguments as fields of their types. Says what was changed; Escape leaves without a change. */
export function ApprovalEditor(props: ApprovalEditorProps): ReactElement {
  const { args, isSending, onApprove, onCancel } = props;
  const id = useId();
  const [fields] = useState(() => fieldsOf(args));
  const [texts, setTexts] = useState(() => fields.map(fieldText));
  const [isTried, setTried] = useState(false);
  const form = useRef<HTMLFormElement>(null);
  useEffect(() => form.current?.querySelector<HTMLElement>('input, select, textarea')?.focus(), []);

  const values = fields.map((field, i) => readField(field, texts[i] ?? ''));
  const bad = values.findIndex(({ ok }) => !ok);
  const changes = fields.flatMap(({ name, before }, i): Change[] => {
    const value = values[i];
    return value?.ok && !sameJson(value.value, before)
      ? [{ name, before, after: value.value }]
      : [];
  });
  const submit = (): void => {
    setTried(true);
    if (isSending) return;
    if (bad >= 0) return document.getElementById(`${id}-${bad}`)?.focus();
    const edited = changes.map(({ name, after }) => [name, after] as const);
    onApprove(edited.length > 0 ? { ...args, ...Object.fromEntries(edited) } : undefined);
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key === 'Enter' && (event.metaKey || event.ctrlKey)) {
      event.preventDefault();
      submit();
    } else if (event.key === 'Escape') {
      event.stopPropagation();
      onCancel();
    }
  };
  return (
    <form
      ref={form}
      className="approval-form"
      onKeyDown={onKeyDown}
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
    >
      <div className="approval-fields">
        {fields.map((field, i) => {
          const value = values[i];
          const problem = value && !value.ok ? value.problem : null;
          return (
            <div key={field.name} className="approval-field">
              <label htmlFor={`${id}-${i}`}>{visibleName(field.name)}</label>
              <Field
                id={`${id}-${i}`}
                field={field}
                text={texts[i] ?? ''}
                isChanged={changes.some(({ name }) => name === field.name)}
                problemId={problem === null ? null : `${id}-${i}-problem`}
                onText={(text) => setTexts((all) => all.with(i, text))}
              />
              {problem !== null && (
                <p
                  id={`${id}-${i}-problem`}
                  className="approval-problem"
                  role={isTried ? 'alert' : undefined}
                >
                  {problem}
                </p>
              )}
            </div>
          );
        })}
        <p className="approval-hint">
          <Glyph name="info" size={14} />
          <span>
            {changesText(changes)}
            {changes.length > 0 && ' Checked against the tool’s schema again before it runs.'}
          </span>
        </p>
      </div>
      <div className="approval-buttons">
        <button
          type="submit"
          className="button button-primary"
          aria-disabled={isSending || bad >= 0}
        >
          <Glyph name="check" size={14} />
          {isSending ? 'Sending…' : changes.length > 0 ? 'Approve with changes' : 'Approve'}
        </button>
        <button type="button" className="button" onClick={onCancel}>
          Cancel
        </button>
        <span className="approval-keys" aria-hidden="true">
          <kbd>{isApple() ? '⌘ ⏎' : 'Ctrl ⏎'}</kbd>
          <kbd>Esc</kbd>
        </span>
      </div>
    </form>
  );
}

interface FieldProps {
  readonly id: string;
  readonly field: ArgField;
  readonly text: string;
  readonly isChanged: boolean;
  readonly problemId: string | null;
  readonly onText: (text: string) => void;
}

function Field({ id, field, text, isChanged, problemId, onText }: FieldProps): ReactElement {
  const common = {
    id,
    className: 'field',
    value: text,
    'data-changed': isChanged || undefined,
    'aria-invalid': problemId !== null,
    'aria-describedby': problemId ?? undefined,
    onChange: (event: { readonly target: { readonly value: string } }) =>
      onText(event.target.value),
  };
  if (field.kind === 'boolean')
    return (
      <select {...common}>
        <option value="true">true</option>
        <option value="false">false</option>
      </select>
    );
  if (field.kind === 'json' || field.kind === 'long')
    return (
      <textarea
        {...common}
        rows={Math.min(12, Math.max(3, text.split('\n').length))}
        spellCheck={field.kind === 'long'}
        autoComplete="off"
      />
    );
  return (
    <input
      {...common}
      type="text"
      inputMode={field.kind === 'number' ? 'decimal' : 'text'}
      autoComplete="off"
      spellCheck={false}
    />
  );
}

const isApple = (): boolean => /mac|iphone|ipad/i.test(navigator.platform);
