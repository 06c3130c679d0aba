import { useId, useState, type FormEvent, type ReactElement, type ReactNode } from 'react';
import type { JsonObject } from '../json.ts';
import {
  inputFieldsOf,
  readInputField,
  type FieldDraft,
  type InputField,
} from '../ui/input-fields.ts';
import { ArgumentField } from './argument-field.tsx';
import { readArgs } from './argument-fields.ts';
import { Glyph } from './glyph.tsx';
import { InputFieldView } from './input-field-view.tsx';
import { part } from './part.ts';
import { useUi } from './ui-context.ts';

export interface InputFieldsProps {
  readonly schema: unknown;
  readonly isSending: boolean;
  /** Buttons next to the one that submits. */
  readonly buttons: ReactNode;
  readonly onContent: (content: JsonObject) => void;
}

/** Renders a form of a JSON Schema: a field for each property of a flat object, else one JSON text. */
export function InputFields(props: InputFieldsProps): ReactElement {
  const { schema, isSending, buttons, onContent } = props;
  const { labels } = useUi();
  const id = useId();
  const [fields] = useState(() => inputFieldsOf(schema));
  const [drafts, setDrafts] = useState<readonly FieldDraft[]>(
    () => fields?.map(({ initial }) => initial) ?? ['{}'],
  );
  const [isTried, setTried] = useState(false);
  const { bad, content, problems } = fields
    ? readFields(fields, drafts)
    : readText(String(drafts[0] ?? ''));
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    setTried(true);
    if (content === null) document.getElementById(`${id}-${bad}`)?.focus();
    else if (!isSending) onContent(content);
  };
  const set = (i: number, draft: FieldDraft): void => setDrafts((all) => all.with(i, draft));
  const jsonProblem = fields ? null : (problems[0] ?? null);
  return (
    <form {...part('input-editor')} noValidate autoComplete="off" onSubmit={submit}>
      <div {...part('input-fields')}>
        {fields?.map((field, i) => (
          <InputFieldView
            key={field.name}
            id={`${id}-${i}`}
            field={field}
            draft={drafts[i] ?? ''}
            problem={isTried ? (problems[i] ?? null) : null}
            onDraft={(draft) => set(i, draft)}
          />
        ))}
        {!fields && (
          <>
            <p {...part('note')}>{labels.inputJsonHint}</p>
            <ArgumentField
              id={`${id}-0`}
              label={labels.inputJson}
              kind="json"
              text={String(drafts[0] ?? '')}
              isChanged={false}
              problem={isTried && typeof jsonProblem === 'string' ? jsonProblem : null}
              isTried={isTried}
              onText={(text) => set(0, text)}
            />
          </>
        )}
      </div>
      <div {...part('buttons')}>
        <button
          type="submit"
          {...part('button')}
          data-kind="primary"
          data-key="accept"
          aria-disabled={isSending}
        >
          <Glyph name="check" size={14} />
          {isSending ? labels.answering : labels.inputSubmit}
        </button>
        {buttons}
      </div>
    </form>
  );

  function readFields(all: readonly InputField[], texts: readonly FieldDraft[]): Read {
    const values = all.map((field, i) => readInputField(field, texts[i] ?? ''));
    const found = values.map((value) => (value.ok ? null : labels.inputProblem(value.problem)));
    const entries = all.flatMap(({ name }, i) => {
      const value = values[i];
      return value?.ok && value.value !== undefined ? [[name, value.value] as const] : [];
    });
    const first = found.findIndex((problem) => problem !== null);
    return {
      bad: first,
      problems: found,
      content: first < 0 ? Object.fromEntries(entries) : null,
    };
  }

  function readText(text: string): Read {
    const value = readArgs(text);
    if (value.ok) return { bad: -1, problems: [], content: value.value };
    const problem = value.expected === 'json' ? labels.notJson(value.error) : labels.notAnObject;
    return { bad: 0, problems: [problem], content: null };
  }
}

interface Read {
  /** Place of the first field with a problem; -1 if there is none. */
  readonly bad: number;
  readonly problems: readonly (string | null)[];
  /** The answer; null if a field has a problem. */
  readonly content: JsonObject | null;
}
