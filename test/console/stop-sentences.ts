import type { ExplanationAction } from '../../src/continuation/explanation.ts';
import { grantLabel, grantText } from '../../src/continuation/grant-text.ts';
import type { Grants } from '../../src/continuation/grants.ts';
import type { StopSentence } from '../../src/trace/trace.ts';

/** Creates the stop of a server with a grant. */
export function grantStop(lead: string, because: string, grant: Grants): StopSentence {
  const text = `To continue, add ${grantText(grant)}.`;
  return stop(lead, because, [
    { kind: 'grant', grant, minimum: grant, text, developerText: 'call resume(state, { grant }).' },
  ]);
}

/** Creates the stop of a server with actions. */
export function stop(
  lead: string,
  because: string,
  actions: readonly ExplanationAction[] = [],
  detail: string = '',
): StopSentence {
  const [first] = actions;
  return {
    lead,
    because,
    goOnIf: null,
    note: detail || null,
    action:
      first?.kind === 'grant'
        ? { kind: 'grant', grant: first.grant, label: grantLabel(first.grant) }
        : first?.kind === 'resume'
          ? { kind: 'resume', label: 'Resume' }
          : first?.kind === 'new_message'
            ? { kind: 'message', label: 'New message' }
            : null,
    explanation: {
      headline: `${lead} ${because}.`,
      detail,
      decidedBy: null,
      stopReason: null,
      actions,
    },
  };
}

export const resumeAction: ExplanationAction = {
  kind: 'resume',
  text: 'To continue, resume it.',
  developerText: 'call resume(state).',
};

export const messageAction: ExplanationAction = {
  kind: 'new_message',
  text: 'To continue, send a new message.',
  developerText: 'send a new message.',
};
