import { useId, type ReactElement, type ReactNode } from 'react';
import type { InputAnswer } from '../tools/input-request.ts';
import type { SessionAction } from '../ui/sources/session-actions.ts';
import type { UiInput } from '../ui/ui-state.ts';
import { visibleLines } from '../visible-text.ts';
import { Glyph } from './glyph.tsx';
import { InputAddress } from './input-address.tsx';
import { InputFields } from './input-fields.tsx';
import type { AgentLabels } from './labels.ts';
import { part } from './part.ts';
import { Problem } from './problem.tsx';
import { useUi } from './ui-context.ts';

export interface InputFormProps {
  readonly input: UiInput;
  /** State of the answer, once the user has given one. */
  readonly action: SessionAction | null;
  /** Answers the question. Absent: answering is not offered. */
  readonly onAnswer?: (inputId: string, answer: InputAnswer) => unknown;
  readonly onDismiss?: (actionId: string) => void;
}

/** Renders a question of a tool: a form of its schema, or an address to open. */
export function InputForm({ input, action, onAnswer, onDismiss }: InputFormProps): ReactElement {
  const { labels } = useUi();
  const titleId = useId();
  const isSending = action?.status === 'pending';
  const isDone = action?.status === 'done';
  const answer = (given: InputAnswer): void => {
    if (!isSending) void onAnswer?.(input.input_id, given);
  };
  const buttons = (
    <>
      <Button answer="decline" isSending={isSending} onClick={() => answer({ action: 'decline' })}>
        {labels.decline}
      </Button>
      <Button answer="cancel" isSending={isSending} onClick={() => answer({ action: 'cancel' })}>
        {labels.inputCancel}
      </Button>
    </>
  );
  return (
    <section
      {...part('input-request')}
      aria-labelledby={titleId}
      data-sent={isSending || isDone || undefined}
    >
      <header {...part('input-head')}>
        <Glyph name="form" />
        <h3 id={titleId} tabIndex={-1} {...part('input-title')}>
          {labels.inputTitle(input.tool)}
        </h3>
      </header>
      <p {...part('input-message')}>{visibleLines(input.message)}</p>
      {!isDone && onAnswer && input.url === undefined && (
        <InputFields
          schema={input.schema}
          isSending={isSending}
          buttons={buttons}
          onContent={(content) => answer({ action: 'accept', content })}
        />
      )}
      {input.url !== undefined && <InputAddress url={input.url} tool={input.tool} />}
      {!isDone && onAnswer && input.url !== undefined && (
        <footer {...part('buttons')}>
          <Button
            answer="accept"
            kind="primary"
            isSending={isSending}
            onClick={() => answer({ action: 'accept' })}
          >
            <Glyph name="check" size={14} />
            {labels.inputFinished}
          </Button>
          {buttons}
        </footer>
      )}
      {!isDone && onAnswer && <p {...part('note')}>{labels.inputNote}</p>}
      {action?.status === 'failed' && (
        <Problem
          action={action}
          text={problemText(labels, action)}
          {...(onDismiss && { onDismiss })}
        />
      )}
      {(isSending || isDone) && (
        <p {...part('input-sent')} role="status">
          <Glyph name="working" size={14} />
          {isSending ? labels.answering : labels.inputAnswered}
        </p>
      )}
    </section>
  );
}

function Button(props: {
  readonly answer: InputAnswer['action'];
  readonly kind?: 'primary';
  readonly isSending: boolean;
  readonly onClick: () => void;
  readonly children: ReactNode;
}): ReactElement {
  const { answer, kind, isSending, onClick, children } = props;
  return (
    <button
      type="button"
      {...part('button')}
      data-kind={kind}
      data-key={answer}
      aria-disabled={isSending}
      onClick={onClick}
    >
      {children}
    </button>
  );
}

/** Another client or person answered first, or the run has ended. */
const late: ReadonlySet<unknown> = new Set(['conflict', 'unknown_input', 'not_resumable']);

function problemText(labels: AgentLabels, { error }: SessionAction): string {
  const code = error && 'code' in error ? error.code : null;
  return late.has(code) ? labels.answeredBefore : labels.failed(visibleLines(error?.message ?? ''));
}
