import { own } from '../json.ts';
import { listText, sentence } from '../sentence.ts';
import type { ContinuationEvaluation } from './evaluation.ts';
import type { ExplainOptions, ExplanationAction } from './explanation.ts';
import type { ErrorFacts, GuardFacts, LimitFacts } from './facts.ts';
import { factsOf } from './facts-of.ts';
import { addText, grantCode, grantText } from './grant-text.ts';
import type { GrantAllowance } from './grant-allowance.ts';
import type { Grants } from './grants.ts';
import { neededGrant, obstaclesOf, untilOf, type Obstacle } from './needed-grant.ts';
import type { ContinuationOutcomeJSON } from './outcome.ts';
import { timeText } from './time-text.ts';

/** Lists the actions that continue a stopped run, from all its obstacles. */
export function actionsOf(
  { evaluations, shouldContinue, stopReason }: ContinuationOutcomeJSON,
  decisive: ContinuationEvaluation | undefined,
  { allowance = null }: ExplainOptions,
): readonly ExplanationAction[] {
  if (shouldContinue || stopReason === 'completed') return [];
  const obstacles = obstaclesOf(evaluations);
  const drafts = draftsOf(obstacles, decisive, allowance);
  return withWait(drafts, evaluations).map((draft) => ({
    ...draft,
    text: `To continue, ${draft.text}.`,
  }));
}

/** An action whose `text` is a clause that follows "To continue,". */
type Draft = ExplanationAction;

function draftsOf(
  obstacles: readonly Obstacle[],
  decisive: ContinuationEvaluation | undefined,
  allowance: GrantAllowance | null,
): readonly Draft[] {
  const blockers = obstacles.filter(({ needs }) => needs === null);
  const blocker =
    blockers.find(isOfSession) ??
    blockers.find(({ evaluation }) => evaluation === decisive) ??
    blockers[0];
  if (blocker) return blockedActions(blocker);
  const needed = neededGrant(obstacles);
  if (!needed) return [newMessage()];
  // an owner cannot grant more than the allowance; without one the operator has to grant
  const grant = allowance ? allowance.grant : needed.grant;
  if (grant === null) return [askOperator(needed.grant), newMessage()];
  return grantActions(grant, smaller(needed.minimum, grant), obstacles);
}

/** Adds a `wait` action in front if the actions work only from a later time. */
function withWait(
  drafts: readonly Draft[],
  evaluations: readonly ContinuationEvaluation[],
): readonly Draft[] {
  const latest = evaluations
    .flatMap((evaluation) => untilOf(factsOf(evaluation)) ?? [])
    .toSorted((a, b) => a.until.localeCompare(b.until))
    .at(-1);
  const [first] = drafts;
  if (!latest || !first) return drafts;
  const { until, isAsked } = latest;
  const asked = isAsked ? ', as the model provider asks' : '';
  const wait: Draft = {
    kind: 'wait',
    until,
    text: `wait until ${timeText(until)}${asked}, then ${first.text}`,
    developerText: `wait until ${until}, then ${first.developerText}`,
  };
  return [wait, ...drafts];
}

/** Whether a session limit is the obstacle: a new message would stop at once. */
const isOfSession = ({ facts }: Obstacle): boolean =>
  facts.kind === 'limit' && facts.scope === 'session';

const sameGrant = (a: Grants, b: Grants): boolean => grantCode(a) === grantCode(b);

const smaller = (a: Grants, b: Grants): Grants =>
  Object.fromEntries(
    Object.entries(a).map(([kind, amount]) => [
      kind,
      Math.min(amount, b[kind as keyof Grants] ?? 0),
    ]),
  );

function grantActions(
  grant: Grants,
  minimum: Grants,
  obstacles: readonly Obstacle[],
): readonly Draft[] {
  const [first] = obstacles;
  const remedy = obstacles.length === 1 ? first?.evaluation.remedy : undefined;
  const isRemedy = remedy !== undefined && sameGrant(remedy.grant ?? {}, grant);
  const developerText = isRemedy ? remedy.text : combinedText(grant, obstacles);
  return [
    { kind: 'grant', grant, minimum, text: clauseFor(grant, obstacles), developerText },
    ...obstacles.flatMap(operatorAction),
    ...(obstacles.length === 1 && isUserStop(obstacles[0]) ? [newMessage()] : []),
  ];
}

/** Steps that reopen a run, not ones that were used up, are not something to add. */
const clauseFor = (grant: Grants, obstacles: readonly Obstacle[]): string =>
  obstacles.some(({ facts: { kind } }) => kind !== 'stop_request' && kind !== 'finish')
    ? addText(grant)
    : `let it take ${grantText(grant, 'more')}`;

const isUserStop = (obstacle: Obstacle | undefined): boolean =>
  obstacle?.facts.kind === 'stop_request';

/** Writes one grant for all obstacles, and the options that raise each limit. */
function combinedText(grant: Grants, obstacles: readonly Obstacle[]): string {
  const options = obstacles.flatMap(({ facts, evaluation: { remedy } }) =>
    facts.kind === 'limit' && remedy?.option !== undefined ? [remedy.option] : [],
  );
  const limits = options.length > 1 ? 'limits' : 'limit';
  const raise = options.length > 0 ? `, or raise the ${limits} with ${listText(options)}` : '';
  return `call resume(state, { grant: ${grantCode(grant)} })${raise}.`;
}

const newMessage = (
  text: string = 'send a new message',
  developerText: string = `${text}.`,
): Draft => ({ kind: 'new_message', text, developerText });

const askOperator = (grant: Grants): Draft => ({
  kind: 'ask_operator',
  text: 'ask an operator for more, or send a new message',
  developerText: `call runtime.resume(id, { owner, grant: ${grantCode(grant)} }) in server code, or raise the cap with the grants option; the owner may grant no more.`,
});

/** Actions for an obstacle that takes no grant. */
function blockedActions({ facts, evaluation }: Obstacle): readonly Draft[] {
  const { criterion, remedy } = evaluation;
  const developerText = remedy?.text ?? 'send a new message.';
  switch (facts.kind) {
    case 'limit':
      return limitActions(facts, remedy?.option ?? null, developerText);
    case 'error':
      return errorActions(facts, developerText);
    case 'finish':
      return rephraseActions(developerText);
    case 'stop_request':
      return facts.source === 'deadline'
        ? [change('timeout', 'give the run that started it more time', developerText)]
        : [newMessage('send a new message', developerText)];
    case 'broken':
    case 'hook':
      return [change(criterion, 'ask the operator to fix this assistant', developerText)];
    case 'guard':
      return guardActions(facts, developerText);
    case 'runtime':
      if (facts.what === 'parked') return [{ kind: 'retry', text: 'retry it', developerText }];
      return facts.what === 'shortened'
        ? [newMessage('send a new message', developerText)]
        : [change(null, 'ask the operator to fix the cause', developerText)];
    default:
      return [newMessage('send a new message', sentence(developerText))];
  }
}

const change = (option: string | null, text: string, developerText: string): Draft => ({
  kind: 'change',
  option,
  text,
  developerText,
});

function limitActions(
  { unit, scope, agent }: LimitFacts,
  option: string | null,
  developerText: string,
): readonly Draft[] {
  if (scope === 'session') return [change(option, 'start a new conversation', developerText)];
  if (agent !== undefined) return [change(option, `raise the limit of ${agent}`, developerText)];
  // of an agent behind a call, which takes no grant
  if (unit !== 'repeats' && option !== null)
    return [change(option, 'ask the operator to raise the limit of this agent', developerText)];
  return unit === 'repeats'
    ? [newMessage('send a new message that says what to do instead', developerText)]
    : [newMessage('send a new message', developerText)];
}

function guardActions({ guard, at, cause }: GuardFacts, developerText: string): readonly Draft[] {
  if (cause === 'blocked')
    return at === 'tools'
      ? [newMessage('send a new message that says what to do instead', developerText)]
      : rephraseActions(developerText);
  return [
    newMessage('send the message again', developerText),
    change(guard, 'ask the operator to fix this assistant', developerText),
  ];
}

const rephraseActions = (developerText: string): readonly Draft[] => [
  change('message', 'rephrase your message, or ask for something else', developerText),
  newMessage(),
];

const operatorChanges: Readonly<Record<string, readonly [option: string, text: string]>> = {
  auth: ['apiKey', 'ask the operator to correct the API key'],
  quota: ['quota', 'ask the operator to raise the quota at the model provider'],
  not_found: ['model', 'ask the operator to choose another model'],
};

/** Action of the operator for an error code that users can only wait out. */
const operatorAction = ({ facts, evaluation }: Obstacle): readonly Draft[] =>
  facts.kind === 'error' && Object.hasOwn(operatorChanges, facts.code)
    ? errorActions(facts, evaluation.remedy?.text ?? '')
    : [];

function errorActions({ code }: ErrorFacts, developerText: string): readonly Draft[] {
  if (code === 'refusal' || code === 'content_filter') return rephraseActions(developerText);
  if (code === 'context_length')
    return [change('messages', 'start a new conversation', developerText)];
  const [option, text] = own(operatorChanges, code) ?? [null, 'ask the operator to fix the cause'];
  return [change(option, text, developerText)];
}
