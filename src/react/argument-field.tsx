import type { ReactElement } from 'react';
import { visibleName } from '../visible-text.ts';
import type { FieldKind } from './argument-fields.ts';
import { part } from './part.ts';

export interface ArgumentFieldProps {
  readonly id: string;
  readonly label: string;
  readonly kind: FieldKind;
  readonly text: string;
  readonly isChanged: boolean;
  /** Why the value is not valid; null if it is. */
  readonly problem: string | null;
  /** Whether the user tried to send it: then the problem is announced. */
  readonly isTried: boolean;
  readonly onText: (text: string) => void;
}

/** Renders one argument as a field of its type, with its problem. */
export function ArgumentField(props: ArgumentFieldProps): ReactElement {
  const { id, label, kind, text, isChanged, problem, isTried, onText } = props;
  const isArea = kind === 'json' || kind === 'long';
  const common = {
    id,
    ...part(kind === 'json' ? 'code-input' : 'input'),
    value: text,
    'data-changed': isChanged || undefined,
    'aria-invalid': problem !== null,
    'aria-describedby': problem === null ? undefined : `${id}-problem`,
    onChange: (event: { readonly target: { readonly value: string } }) =>
      onText(event.target.value),
  };
  return (
    <div {...part('field')}>
      <label htmlFor={id}>{visibleName(label)}</label>
      {kind === 'boolean' ? (
        <select {...common}>
          <option value="true">true</option>
          <option value="false">false</option>
        </select>
      ) : isArea ? (
        <textarea
          {...common}
          rows={Math.min(16, Math.max(3, text.split('\n').length))}
          spellCheck={kind === 'long'}
          autoCapitalize="off"
          autoComplete="off"
        />
      ) : (
        <input
          {...common}
          type="text"
          inputMode={kind === 'number' ? 'decimal' : 'text'}
          autoComplete="off"
          spellCheck={false}
        />
      )}
      {problem !== null && (
        <p
          id={`${id}-problem`}
          {...part('note')}
          data-problem="true"
          role={isTried ? 'alert' : undefined}
        >
          {problem}
        </p>
      )}
    </div>
  );
}
