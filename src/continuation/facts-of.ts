import { errorTypes, type ErrorType } from '../errors/error-type.ts';
import { isRecord, own } from '../json.ts';
import type { ContinuationEvaluation } from './evaluation.ts';
import {
  isSpent,
  type ErrorFacts,
  type EvaluationFacts,
  type LimitFacts,
  type StopRequestFacts,
} from './facts.ts';
import type { GrantKind } from './grants.ts';

/** Returns the stored facts of an evaluation, else derives them from its name and context. */
export function factsOf(evaluation: ContinuationEvaluation): EvaluationFacts {
  const { facts } = evaluation;
  return facts !== undefined && isReadable(facts) ? facts : derivedFacts(evaluation);
}

/** Whether stored facts have the expected shape: a stored document may hold anything. */
function isReadable(facts: EvaluationFacts): boolean {
  if (!isRecord(facts)) return false;
  const isNumber = (...keys: readonly string[]): boolean =>
    keys.every((key) => typeof facts[key] === 'number' && Number.isFinite(facts[key]));
  const isText = (...keys: readonly string[]): boolean =>
    keys.every((key) => typeof facts[key] === 'string');
  switch (facts['kind']) {
    case 'limit':
      return (
        isNumber('base', 'granted', 'limit') &&
        (facts['used'] === null || isNumber('used')) &&
        isText('unit', 'scope')
      );
    case 'error':
      return isNumber('attempts', 'maxRetries') && isText('errorType', 'code', 'handling');
    case 'finish':
      return isText('finishReason');
    case 'stop_request':
      return isText('source', 'reason');
    case 'pending':
      return isText('what') && isNumber('tools');
    case 'tool_called':
      return isText('toolName');
    case 'hook':
      return isText('name');
    case 'guard':
      return isText('guard', 'at', 'cause', 'reason');
    case 'runtime':
      return isText('what');
    case 'answered':
    case 'broken':
    case 'custom':
      return true;
    default:
      return false;
  }
}

/** Derives facts from the exact name of a built-in criterion and its context; all others are `custom`. */
export function derivedFacts(evaluation: ContinuationEvaluation): EvaluationFacts {
  const { criterion, decision, remedy } = evaluation;
  const context = isRecord(evaluation.context) ? evaluation.context : {};
  if (context['broken'] === true) return { kind: 'broken' };
  const limit = own(limits, criterion);
  const known = limit ? limitFacts(limit, criterion, context) : builtIn(evaluation, context);
  if (known) return known;
  if (criterion === 'SessionRuntime' || criterion === 'SlimAgentStateSerializer')
    return runtimeFacts(criterion, context);
  return { kind: 'custom', remedy: decision === 'forbid' && isRecord(remedy) ? remedy : null };
}

interface BuiltInLimit extends Pick<LimitFacts, 'unit' | 'scope'> {
  readonly grant?: GrantKind;
}

const limits: Readonly<Record<string, BuiltInLimit>> = {
  StepsLimit: { unit: 'steps', scope: 'execution', grant: 'steps' },
  FamilyStepsLimit: { unit: 'steps', scope: 'family', grant: 'steps' },
  TokenUsageLimit: { unit: 'tokens', scope: 'execution', grant: 'tokens' },
  CostLimit: { unit: 'cost', scope: 'execution', grant: 'cost' },
  ExecutionTimeLimit: { unit: 'seconds', scope: 'execution', grant: 'seconds' },
  CumulativeExecutionTimeLimit: { unit: 'seconds', scope: 'execution', grant: 'seconds' },
  SessionStepsLimit: { unit: 'steps', scope: 'session' },
  SessionTokenUsageLimit: { unit: 'tokens', scope: 'session' },
  SessionCostLimit: { unit: 'cost', scope: 'session' },
  SessionTimeLimit: { unit: 'seconds', scope: 'session' },
  NoProgressLimit: { unit: 'repeats', scope: 'execution' },
};

/** Whether a built-in limit of this name counts this unit in this scope. */
export function isKnownLimit(criterion: string, { unit, scope }: BuiltInLimit): boolean {
  const known = own(limits, criterion);
  return known?.unit === unit && known.scope === scope;
}

type Context = Readonly<Record<string, unknown>>;

const textIn = (context: Context, key: string): string | null => {
  const value = context[key];
  return typeof value === 'string' && value !== '' ? value : null;
};

const numberIn = (context: Context, key: string): number | null => {
  const value = context[key];
  return typeof value === 'number' && Number.isFinite(value) ? value : null;
};

function limitFacts(
  { unit, scope, grant }: BuiltInLimit,
  criterion: string,
  context: Context,
): LimitFacts | null {
  const limit = numberIn(context, 'limit');
  const used = numberIn(context, 'used');
  if (limit === null || (used === null && context['used'] !== null)) return null;
  const toolName = textIn(context, 'toolName');
  const isAbove = context['scope'] === 'family';
  const agent = isAbove ? textIn(context, 'agent') : null;
  const facts: LimitFacts = {
    kind: 'limit',
    unit,
    scope: isAbove ? 'family' : scope,
    used,
    base: limit,
    granted: 0,
    limit,
    ...(toolName !== null && { toolName }),
    ...(agent !== null && { agent }),
  };
  const waits = (numberIn(context, 'waitMs') ?? 0) > 0;
  if (!isSpent(facts) && !waits) return facts;
  // the wall-clock limit restarts with each resume and owes nothing
  const owed = criterion === 'ExecutionTimeLimit' ? 0 : Math.max(0, (used ?? 0) - limit);
  return { ...facts, owed, ...(grant && !isAbove && { grant }) };
}

function builtIn(
  { criterion, decision, reason, stopReason }: ContinuationEvaluation,
  context: Context,
): EvaluationFacts | null {
  switch (criterion) {
    case 'ErrorPolicyCriterion':
      return errorFacts(context, stopReason === 'retry_limit');
    case 'FinishReasonCheck': {
      const finishReason = textIn(context, 'finishReason');
      return decision === 'forbid' && finishReason !== null
        ? { kind: 'finish', finishReason }
        : null;
    }
    case 'StopRequestCheck': {
      if (decision !== 'forbid') return null;
      const by = textIn(context, 'by');
      const source: StopRequestFacts['source'] = by === 'tool' || by === 'deadline' ? by : 'user';
      return { kind: 'stop_request', source, reason };
    }
    case 'ToolCallPresenceCheck': {
      if (decision === 'stop') return { kind: 'answered' };
      const tools = numberIn(context, 'toolCalls') ?? 0;
      const work = textIn(context, 'work');
      const what = work === 'retry' || work === 'format' ? work : 'start';
      return { kind: 'pending', what: tools > 0 ? 'tools' : what, tools };
    }
    case 'ToolCalledCheck': {
      const toolName = textIn(context, 'tool');
      return toolName === null ? null : { kind: 'tool_called', toolName };
    }
    default:
      return null;
  }
}

function errorFacts(context: Context, isRetriesSpent: boolean): ErrorFacts | null {
  const errorType = textIn(context, 'errorType');
  if (!isErrorType(errorType)) return null;
  const attempts = numberIn(context, 'consecutiveFailures') ?? 1;
  const maxRetries = numberIn(context, 'maxRetries') ?? 0;
  const handled = textIn(context, 'handling');
  const handling = handlings.find((one) => one === handled) ?? 'stop';
  const toolName = textIn(context, 'toolName');
  return {
    kind: 'error',
    errorType,
    code: '',
    modelCall: toolName === null,
    ...(toolName !== null && { toolName }),
    attempts,
    maxRetries,
    retryable: true,
    handling,
    policy: isRetriesSpent
      ? 'retry'
      : handling === 'fallback' || handling === 'compact'
        ? 'stop'
        : handling,
  };
}

const handlings = ['retry', 'ignore', 'fallback', 'compact'] as const;

const isErrorType = (type: string | null): type is ErrorType =>
  errorTypes.some((known) => known === type);

function runtimeFacts(criterion: string, context: Context): EvaluationFacts {
  if (criterion === 'SlimAgentStateSerializer') return { kind: 'runtime', what: 'shortened' };
  if (context['parked'] !== true) return { kind: 'runtime', what: 'failed' };
  const tries = numberIn(context, 'tries');
  return { kind: 'runtime', what: 'parked', ...(tries !== null && { tries }) };
}
