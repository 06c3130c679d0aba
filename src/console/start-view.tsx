import { useState, type ReactElement } from 'react';
import { Composer } from '../react/composer.tsx';
import type { AgentInfo } from '../server/api.ts';
import { Glyph } from './glyphs.tsx';

export interface StartViewProps {
  readonly agents: readonly AgentInfo[];
  /** Creates the session with its first message; resolves with the problem, or null. */
  readonly onStart: (agent: string, message: string) => Promise<string | null>;
}

/** Renders a new session: nothing exists on the server before the first message. */
export function StartView({ agents, onStart }: StartViewProps): ReactElement {
  const [name, setName] = useState(agents[0]?.name ?? '');
  const [problem, setProblem] = useState<string | null>(null);
  const [isSending, setSending] = useState(false);
  const [draft, setDraft] = useState<{ readonly text: string } | null>(null);
  const agent = agents.find((one) => one.name === name) ?? agents[0];

  /** Restores a refused message in the field. */
  const send = async (text: string): Promise<void> => {
    if (!(await start(text))) setDraft({ text });
  };
  const start = async (message: string): Promise<boolean> => {
    if (!agent || isSending) return false;
    setSending(true);
    setProblem(null);
    const wrong = await onStart(agent.name, message);
    setProblem(wrong);
    setSending(false);
    return wrong === null;
  };
  if (!agent) return <NoAgents />;
  return (
    <section className="start" aria-label="New session">
      {problem !== null && (
        <div className="strip strip-bad" role="alert">
          <Glyph name="failed" size={14} />
          <p>
            <strong>Not sent.</strong> {problem}
          </p>
        </div>
      )}
      <div className="start-scroll">
        <div className="empty start-about">
          <Glyph name="go" size={20} />
          <h2>{agent.title}</h2>
          {agent.description !== '' && (
            <div className="empty-text">
              <p>{agent.description}</p>
            </div>
          )}
          {agents.length > 1 && (
            <div className="start-agents" role="group" aria-label="Agent">
              {agents.map((one) => (
                <button
                  key={one.name}
                  type="button"
                  className="button button-small"
                  aria-pressed={one.name === agent.name}
                  onClick={() => setName(one.name)}
                >
                  {one.title}
                </button>
              ))}
            </div>
          )}
          {agent.suggestions.length > 0 && (
            <ul className="start-suggestions" aria-label="Suggestions">
              {agent.suggestions.map((text) => (
                <li key={text}>
                  <button type="button" disabled={isSending} onClick={() => void start(text)}>
                    {text}
                  </button>
                </li>
              ))}
            </ul>
          )}
          {agent.isDemo && <DemoNote />}
        </div>
      </div>
      <Composer
        onSend={send}
        draft={draft}
        blockedBy={isSending ? 'Sending…' : null}
        isLocked
        placeholder="Write a message"
      />
    </section>
  );
}

function DemoNote(): ReactElement {
  return (
    <p className="start-note">
      <Glyph name="info" size={14} />
      <span>
        No API key found, so the <b>demo model</b> answers. It is a script, not a model. The tools
        and the data are real. Set <code>OPENAI_API_KEY</code> to use a live model.
      </span>
    </p>
  );
}

function NoAgents(): ReactElement {
  return (
    <section className="start" aria-label="New session">
      <div className="empty">
        <Glyph name="info" size={20} />
        <h2>No agents</h2>
        <div className="empty-text">
          <p>
            Add one to <code>agents</code> in <code>onward.config.ts</code>, then restart the
            server.
          </p>
        </div>
      </div>
    </section>
  );
}
