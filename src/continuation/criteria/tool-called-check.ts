import { invalidOption } from '../../errors/agent-error.ts';
import type { ContinuationCriterion } from '../criterion.ts';
import type { ContinuationEvaluation } from '../evaluation.ts';
import { StopReason } from '../stop-reason.ts';

const name = 'ToolCalledCheck';

/** Requests continuation until `tool` succeeds in this execution, then ends the run as completed. */
export function toolCalledCheck(tool: string): ContinuationCriterion {
  if (typeof tool !== 'string' || tool === '')
    throw invalidOption(name, tool, 'the name of a tool');
  return {
    name,
    evaluate({ execution }): ContinuationEvaluation {
      if (!execution.succeededTools.includes(tool))
        return {
          criterion: name,
          decision: 'request',
          reason: `the tool ${tool} has not been called successfully yet`,
          context: { tool },
        };
      return {
        criterion: name,
        decision: 'forbid',
        reason: `the tool ${tool} was called`,
        context: { tool },
        stopReason: StopReason.Completed,
        facts: { kind: 'tool_called', toolName: tool },
      };
    },
  };
}
