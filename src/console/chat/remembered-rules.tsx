import { useEffect, useState, type ReactElement } from 'react';
import { visibleName } from '../../visible-text.ts';
import type { RememberedRule } from '../api-client.ts';

export interface RememberedRulesProps {
  readonly load: () => Promise<readonly RememberedRule[]>;
  /** Revokes a rule. Resolves with those that are left. */
  readonly revoke: (ruleId: string) => Promise<readonly RememberedRule[]>;
}

/** Lists the approvals that the session remembers, and revokes them. */
export function RememberedRules({ load, revoke }: RememberedRulesProps): ReactElement | null {
  const [rules, setRules] = useState<readonly RememberedRule[]>([]);
  const [problem, setProblem] = useState('');
  const [isSending, setSending] = useState(false);
  useEffect(() => {
    let isGone = false;
    load().then(
      (found) => !isGone && setRules(found),
      (error: unknown) => !isGone && setProblem(messageOf(error)),
    );
    return () => {
      isGone = true;
    };
  }, [load]);
  if (rules.length === 0 && problem === '') return null;
  const press = (id: string): void => {
    if (isSending) return;
    setSending(true);
    revoke(id)
      .then(setRules, (error: unknown) => setProblem(messageOf(error)))
      .finally(() => setSending(false));
  };
  return (
    <section className="facts">
      <h3>Always allowed</h3>
      <ul className="rules">
        {rules.map(({ id, tool, agentPath }) => (
          <li key={id}>
            <span>
              <code>{visibleName(tool)}</code>{' '}
              {agentPath.length > 1 && (
                <span className="muted">{agentPath.map(visibleName).join(' › ')}</span>
              )}
            </span>
            <button
              type="button"
              className="button button-small"
              aria-disabled={isSending || undefined}
              aria-label={`Ask again for ${visibleName(tool)}`}
              onClick={() => press(id)}
            >
              Ask again
            </button>
          </li>
        ))}
      </ul>
      {problem !== '' && <p role="alert">{problem}</p>}
    </section>
  );
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : '');
