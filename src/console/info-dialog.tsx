import { useState, type ReactElement, type ReactNode } from 'react';
import type { AgentInfo, ServerInfo, SessionDetail } from '../server/api.ts';
import { countText } from '../number-text.ts';
import { RememberedRules, type RememberedRulesProps } from './chat/remembered-rules.tsx';
import { Dialog } from './dialog.tsx';
import { Glyph } from './glyphs.tsx';
import { limitText } from './trace/limit-meter.ts';

export interface InfoDialogProps {
  readonly info: ServerInfo | null;
  readonly agent: AgentInfo | null;
  readonly detail: SessionDetail | null;
  /** Lists and revokes the approvals that the session remembers; null without a session. */
  readonly rules: RememberedRulesProps | null;
  readonly onDelete: () => Promise<string | null>;
  readonly onHelp: () => void;
  readonly onClose: () => void;
}

/** Renders facts about the session, its agent and the server. */
export function InfoDialog(props: InfoDialogProps): ReactElement {
  const { info, agent, detail, onClose } = props;
  return (
    <Dialog title={detail ? 'About this session' : 'About this server'} onClose={onClose}>
      {detail && <SessionFacts detail={detail} onDelete={props.onDelete} />}
      {detail && props.rules && <RememberedRules {...props.rules} />}
      {agent && <AgentFacts agent={agent} />}
      {info && (
        <Facts title="Server">
          <Fact name="name">{info.name}</Fact>
          <Fact name="version">{info.version}</Fact>
          {info.store !== null && <Fact name="store">{info.store}</Fact>}
          <Fact name="address">
            <code>{location.host}</code>
          </Fact>
          <Fact name="you are">
            <code>{info.owner}</code>
          </Fact>
        </Facts>
      )}
      <footer>
        <button type="button" className="button" onClick={props.onHelp}>
          Keys <kbd>?</kbd>
        </button>
      </footer>
    </Dialog>
  );
}

function SessionFacts({
  detail,
  onDelete,
}: Pick<InfoDialogProps, 'onDelete'> & { readonly detail: SessionDetail }): ReactElement {
  return (
    <Facts title="Session">
      <Fact name="id">
        <code>{detail.id}</code>
      </Fact>
      <Fact name="now">{detail.reason}</Fact>
      <Fact name="started">{new Date(detail.createdAt).toLocaleString('en-GB')}</Fact>
      <Fact name="messages">{countText(detail.messageCount)}</Fact>
      <Fact name="steps">{countText(detail.stepCount)}</Fact>
      <Fact name="tokens">{countText(detail.info.usage.total)}</Fact>
      <Delete onDelete={onDelete} />
    </Facts>
  );
}

/** Asks for confirmation in the same position, because a delete is permanent. */
function Delete({ onDelete }: Pick<InfoDialogProps, 'onDelete'>): ReactElement {
  const [isAsked, setAsked] = useState(false);
  const [problem, setProblem] = useState<string | null>(null);
  if (!isAsked)
    return (
      <button
        type="button"
        className="button button-danger dialog-delete"
        onClick={() => setAsked(true)}
      >
        <Glyph name="trash" size={14} />
        Delete session…
      </button>
    );
  return (
    <div className="dialog-confirm" role="group" aria-label="Delete this session?">
      <p>
        <strong>Delete this session?</strong> This deletes its messages, steps and log, and stops
        its run. It cannot be undone.
      </p>
      {problem !== null && <p role="alert">{problem}</p>}
      <button
        type="button"
        className="button button-danger"
        onClick={() => void onDelete().then(setProblem)}
      >
        Delete
      </button>
      <button type="button" className="button" autoFocus onClick={() => setAsked(false)}>
        Keep
      </button>
    </div>
  );
}

function AgentFacts({ agent }: { readonly agent: AgentInfo }): ReactElement {
  const limits = Object.entries(agent.limits);
  return (
    <Facts title="Agent">
      <Fact name="name">
        <code>{agent.name}</code>
      </Fact>
      <Fact name="model">
        {agent.model}
        {agent.isDemo && <span className="chip">a script, not a model</span>}
      </Fact>
      {limits.length > 0 && (
        <Fact name="limits">
          {limits.map(([name, limit]) => `${name} ${limitText(name, limit)}`).join(' · ')}
        </Fact>
      )}
      {agent.tools.length > 0 && (
        <Fact name="tools">
          <ul>
            {agent.tools.map(({ name, description, needsApproval }) => (
              <li key={name}>
                <code>{name}</code> {needsApproval && <span className="chip">needs approval</span>}
                <span className="muted">{description}</span>
              </li>
            ))}
          </ul>
        </Fact>
      )}
    </Facts>
  );
}

function Facts({
  title,
  children,
}: {
  readonly title: string;
  readonly children: ReactNode;
}): ReactElement {
  return (
    <section className="facts">
      <h3>{title}</h3>
      <div>{children}</div>
    </section>
  );
}

function Fact({
  name,
  children,
}: {
  readonly name: string;
  readonly children: ReactNode;
}): ReactElement {
  return (
    <div className="fact">
      <span className="muted">{name}</span>
      <div>{children}</div>
    </div>
  );
}
