import type { ReactElement, RefObject } from 'react';
import { actionFor, type SessionAction } from '../ui/sources/session-actions.ts';
import type { UiInput } from '../ui/ui-state.ts';
import { InputForm, type InputFormProps } from './input-form.tsx';
import { part } from './part.ts';
import { useUi } from './ui-context.ts';
import { useKeptFocus } from './use-kept-focus.ts';

export interface InputListProps extends Pick<InputFormProps, 'onAnswer' | 'onDismiss'> {
  readonly inputs: readonly UiInput[];
  readonly actions: readonly SessionAction[];
  /** Element that gets the focus when the last question with the focus is gone. */
  readonly nextFocus?: RefObject<HTMLElement | null>;
}

/** Renders all questions of tools. The focus moves to the next one, and never back to the top of the page. */
export function InputList(props: InputListProps): ReactElement | null {
  const { inputs, actions, nextFocus, ...given } = props;
  const { components } = useUi();
  const focus = useKeptFocus('[data-onward="input-title"]', nextFocus);
  const Input = components.Input ?? InputForm;
  return (
    <div {...focus} {...part('inputs')}>
      {inputs.map((input) => (
        <Input
          key={`${input.execution_id} ${input.input_id}`}
          input={input}
          action={actionFor(actions, 'answer', input.input_id)}
          {...given}
        />
      ))}
    </div>
  );
}
