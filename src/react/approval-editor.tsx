import { useEffect, useId, useRef, useState, type ReactElement } from 'react';
import type { JsonObject } from '../json.ts';
import { visibleJson } from '../visible-text.ts';
import { ArgumentField } from './argument-field.tsx';
import {
  changesOf,
  fieldsOf,
  fieldText,
  readArgs,
  readField,
  type ArgField,
  type FieldValue,
} from './argument-fields.ts';
import { EditorForm, type EditorFormProps } from './editor-form.tsx';
import { enter } from './enter-form.ts';
import type { AgentLabels } from './labels.ts';
import { part } from './part.ts';
import { useUi } from './ui-context.ts';

export interface ApprovalEditorProps extends Pick<
  EditorFormProps,
  'isSending' | 'aside' | 'onCancel'
> {
  readonly args: JsonObject;
  /** Called without arguments if nothing was changed. */
  readonly onApprove: (args?: JsonObject) => void;
}

/** The edited draft: a field for each argument, or all arguments as one JSON text. */
interface Draft {
  /** Null while all arguments are one text. */
  readonly fields: readonly ArgField[] | null;
  readonly texts: readonly string[];
}

const asFields = (args: JsonObject): Draft => {
  const fields = fieldsOf(args);
  return { fields, texts: fields.map(fieldText) };
};
const asJson = (args: JsonObject): Draft => ({
  fields: null,
  texts: [visibleJson(JSON.stringify(args, null, 2))],
});

/** Edits arguments as fields of their types, or as JSON. Shows what was changed; Escape leaves without a change. */
export function ApprovalEditor({ args, onApprove, ...form }: ApprovalEditorProps): ReactElement {
  const { labels } = useUi();
  const id = useId();
  const [draft, setDraft] = useState(() =>
    Object.keys(args).length === 0 ? asJson(args) : asFields(args),
  );
  const [isTried, setTried] = useState(false);
  const box = useRef<HTMLDivElement>(null);
  const isJson = draft.fields === null;
  useEffect(() => enter(box.current?.querySelector('input, select, textarea') ?? null), [isJson]);

  const read = readDraft(draft);
  const bad = read.findIndex(({ ok }) => !ok);
  const edited = bad < 0 ? argsOf(draft, read) : null;
  const changes = edited && changesOf(args, edited);
  const isChanged = (field: ArgField, text: string): boolean =>
    changes ? changes.some(({ name }) => name === field.name) : text !== fieldText(field);
  const submit = (): void => {
    setTried(true);
    if (edited) onApprove(changes?.length ? edited : undefined);
    else document.getElementById(`${id}-${bad}`)?.focus();
  };
  return (
    <EditorForm
      {...form}
      submitLabel={changes?.length === 0 ? labels.approve : labels.approveEdited}
      kind="primary"
      isBlocked={edited === null}
      onSubmit={submit}
    >
      <div ref={box} {...part('argument-fields')} data-json={isJson || undefined}>
        {draft.texts.map((text, i) => {
          const field = draft.fields?.[i];
          const value = read[i];
          return (
            <ArgumentField
              key={field?.name ?? ''}
              id={`${id}-${i}`}
              label={field?.name ?? labels.editArgs}
              kind={field?.kind ?? 'json'}
              text={text}
              isChanged={field !== undefined && isChanged(field, text)}
              problem={value && !value.ok ? problemText(labels, value) : null}
              isTried={isTried}
              onText={(next) => setDraft((all) => ({ ...all, texts: all.texts.with(i, next) }))}
            />
          );
        })}
        <p {...part('note')}>
          {changes && labels.changes(changes)} {changes?.length !== 0 && `${labels.editHint} `}
          {edited && (!isJson || Object.keys(edited).length > 0) && (
            <button
              type="button"
              {...part('link')}
              onClick={() => setDraft(isJson ? asFields(edited) : asJson(edited))}
            >
              {isJson ? labels.editFields : labels.editJson}
            </button>
          )}
        </p>
      </div>
    </EditorForm>
  );
}

const readDraft = ({ fields, texts }: Draft): readonly FieldValue[] =>
  fields === null
    ? texts.map(readArgs)
    : fields.map((field, i) => readField(field, texts[i] ?? ''));

/** Returns the arguments. Untouched fields keep their exact value, because a field may show it rounded or escaped. */
function argsOf({ fields, texts }: Draft, read: readonly FieldValue[]): JsonObject {
  const values = read.map((value) => (value.ok ? value.value : null));
  if (fields === null) return values[0] as JsonObject; // parsed as an object
  return Object.fromEntries(
    fields.map((field, i) => [
      field.name,
      texts[i] === fieldText(field) ? field.before : (values[i] ?? null),
    ]),
  );
}

function problemText(labels: AgentLabels, value: FieldValue & { readonly ok: false }): string {
  if (value.expected === 'json') return labels.notJson(value.error);
  return value.expected === 'number' ? labels.notNumber : labels.notAnObject;
}
