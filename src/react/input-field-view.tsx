import type { ReactElement } from 'react';
import type { FieldDraft, InputField } from '../ui/input-fields.ts';
import { visibleLines, visibleText } from '../visible-text.ts';
import { part } from './part.ts';
import { useUi } from './ui-context.ts';

export interface InputFieldViewProps {
  readonly id: string;
  readonly field: InputField;
  readonly draft: FieldDraft;
  /** Why the value does not fit; null if it does, or before the user has tried to send it. */
  readonly problem: string | null;
  readonly onDraft: (draft: FieldDraft) => void;
}

/** Renders one field of a form that a tool asks for. */
export function InputFieldView(props: InputFieldViewProps): ReactElement {
  const { id, field, problem } = props;
  const { labels } = useUi();
  const title = (
    <>
      {visibleText(field.title)}
      {field.isRequired && <span {...part('required')}> ({labels.required})</span>}
    </>
  );
  const notes = (
    <>
      {field.description !== null && (
        <p id={`${id}-hint`} {...part('note')}>
          {visibleLines(field.description)}
        </p>
      )}
      {problem !== null && (
        <p id={`${id}-problem`} {...part('note')} data-problem="true" role="alert">
          {problem}
        </p>
      )}
    </>
  );
  if (field.kind === 'choices')
    return (
      <fieldset {...part('input-choices')} aria-describedby={describedBy(props)}>
        <legend>{title}</legend>
        <Choices {...props} />
        {notes}
      </fieldset>
    );
  return (
    <div {...part('input-field')}>
      <label htmlFor={id}>{title}</label>
      <Control {...props} />
      {notes}
    </div>
  );
}

const describedBy = ({ id, field, problem }: InputFieldViewProps): string | undefined =>
  [
    ...(field.description === null ? [] : [`${id}-hint`]),
    ...(problem === null ? [] : [`${id}-problem`]),
  ].join(' ') || undefined;

function Control(props: InputFieldViewProps): ReactElement {
  const { id, field, draft, problem, onDraft } = props;
  const { labels } = useUi();
  const common = {
    id,
    ...part('input'),
    value: String(draft),
    'aria-required': field.isRequired,
    'aria-invalid': problem !== null,
    'aria-describedby': describedBy(props),
    onChange: (event: { readonly target: { readonly value: string } }) =>
      onDraft(event.target.value),
  };
  if (field.kind === 'choice' || field.kind === 'boolean')
    return (
      <select {...common}>
        <option value="">{labels.choose}</option>
        {field.kind === 'boolean' ? (
          <>
            <option value="true">{labels.yes}</option>
            <option value="false">{labels.no}</option>
          </>
        ) : (
          field.choices.map(({ value, title }, i) => (
            <option key={i} value={value}>
              {visibleText(title)}
            </option>
          ))
        )}
      </select>
    );
  const isNumber = field.kind === 'number' || field.kind === 'integer';
  const isLong = field.kind === 'text' && field.format === null && (field.max ?? 0) > 200;
  if (isLong) return <textarea {...common} rows={3} />;
  return (
    <input
      {...common}
      type={field.format === 'date' ? 'date' : 'text'}
      inputMode={isNumber ? 'decimal' : field.format === 'email' ? 'email' : 'text'}
      autoComplete="off"
    />
  );
}

function Choices({ id, field, draft, problem, onDraft }: InputFieldViewProps): ReactElement {
  const chosen = typeof draft === 'string' ? [] : draft;
  const toggle = (value: string): void =>
    onDraft(chosen.includes(value) ? chosen.filter((one) => one !== value) : [...chosen, value]);
  return (
    <>
      {field.choices.map(({ value, title }, i) => (
        <label key={i} {...part('input-choice')}>
          <input
            // the first one gets the focus if the number of choices does not fit
            {...(i === 0 && { id })}
            type="checkbox"
            checked={chosen.includes(value)}
            aria-invalid={problem !== null}
            onChange={() => toggle(value)}
          />
          {visibleText(title)}
        </label>
      ))}
    </>
  );
}
