import type { Explanation, ExplanationAction } from '../continuation/explanation.ts';
import type { WireAction, WireExplanation } from './envelope.ts';

/** Converts an explanation to the names of the wire, without the fields for developers. */
export const wireExplanation = ({
  headline,
  detail,
  decidedBy,
  stopReason,
  actions,
}: Explanation): WireExplanation => ({
  headline,
  detail,
  decided_by: decidedBy,
  stop_reason: stopReason,
  actions: actions.map(wireAction),
});

function wireAction(action: ExplanationAction): WireAction {
  const { kind, text } = action;
  switch (action.kind) {
    case 'grant':
      return { kind, text, grant: action.grant, minimum: action.minimum };
    case 'approve':
      return { kind, text, call_ids: action.callIds };
    case 'input':
      return { kind, text, call_ids: action.callIds, input_ids: action.inputIds };
    case 'wait':
      return { kind, text, until: action.until };
    case 'change':
      return { kind, text, option: action.option };
    default:
      return { kind, text };
  }
}
