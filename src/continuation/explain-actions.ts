import { own } from '../json.ts';
import { sentence } from '../sentence.ts';
import { timeText } from './because.ts';
import type { ContinuationEvaluation } from './evaluation.ts';
import type { ExplainOptions, ExplanationAction } from './explanation.ts';
import type { ErrorFacts, LimitFacts } from './facts.ts';
import { addText, grantCode } from './grant-text.ts';
import type { GrantAllowance } from './grant-allowance.ts';
import type { Grants } from './grants.ts';
import { neededGrant, obstaclesOf, type NeededGrant, type Obstacle } from './needed-grant.ts';
import type { ContinuationOutcomeJSON } from './outcome.ts';

/** What can be done about a stop, from everything that keeps the run from continuing. */
export function actionsOf(
  { evaluations, shouldContinue, stopReason }: ContinuationOutcomeJSON,
  decisive: ContinuationEvaluation | undefined,
  { allowance = null }: ExplainOptions,
): readonly ExplanationAction[] {
  if (shouldContinue || stopReason === 'completed') return [];
  const obstacles = obstaclesOf(evaluations);
  const blockers = obstacles.filter(({ needs }) => needs === null);
  const blocker =
    blockers.find(isOfSession) ??
    blockers.find(({ evaluation }) => evaluation === decisive) ??
    blockers[0];
  if (blocker) return blockedActions(blocker);
  const needed = neededGrant(obstacles);
  if (!needed) return [newMessage()];
  return withinAllowance(grantActions(needed, obstacles), allowance);
}

/** Where the whole session has used up a limit, a new message stops at once. */
const isOfSession = ({ facts }: Obstacle): boolean =>
  facts.kind === 'limit' && facts.scope === 'session';

/** Offers no more than the owner may grant, or names the operator. */
function withinAllowance(
  actions: readonly ExplanationAction[],
  allowance: GrantAllowance | null,
): readonly ExplanationAction[] {
  const offered = actions.find((action) => action.kind === 'grant');
  if (!allowance || offered?.kind !== 'grant') return actions;
  const { grant } = allowance;
  if (grant === null) return [askOperator(offered.grant), newMessage()];
  if (sameGrant(grant, offered.grant)) return actions;
  const capped: ExplanationAction = {
    kind: 'grant',
    grant,
    minimum: smaller(offered.minimum, grant),
    text: `To continue, ${addText(grant)}.`,
    developerText: `call resume(state, { grant: ${grantCode(grant)} }).`,
  };
  return actions.map((action) => (action.kind === 'grant' ? capped : action));
}

const sameGrant = (a: Grants, b: Grants): boolean => grantCode(a) === grantCode(b);

const smaller = (a: Grants, b: Grants): Grants =>
  Object.fromEntries(
    Object.entries(a).map(([kind, amount]) => [
      kind,
      Math.min(amount, b[kind as keyof Grants] ?? 0),
    ]),
  );

function grantActions(
  { grant, minimum }: NeededGrant,
  obstacles: readonly Obstacle[],
): readonly ExplanationAction[] {
  const [first] = obstacles;
  const remedy = obstacles.length === 1 ? first?.evaluation.remedy : undefined;
  const developerText =
    remedy && sameGrant(remedy.grant ?? {}, grant) ? remedy.text : combinedText(grant, obstacles);
  const give: ExplanationAction = {
    kind: 'grant',
    grant,
    minimum,
    text: `To continue, ${addText(grant)}.`,
    developerText,
  };
  const until = latestOf(obstacles);
  if (until === null) return [give];
  const wait: ExplanationAction = {
    kind: 'wait',
    until,
    text: `To continue, wait until ${timeText(until)}, then ${addText(grant)}.`,
    developerText: `wait until ${until}, then ${developerText}`,
  };
  return [wait, give];
}

/** One grant for all, and the options that raise each limit. */
function combinedText(grant: Grants, obstacles: readonly Obstacle[]): string {
  const options = obstacles.flatMap(({ facts, evaluation: { remedy } }) =>
    facts.kind === 'limit' && remedy?.option !== undefined ? [remedy.option] : [],
  );
  const limits = options.length > 1 ? 'limits' : 'limit';
  const raise = options.length > 0 ? `, or raise the ${limits} with ${options.join(' and ')}` : '';
  return `call resume(state, { grant: ${grantCode(grant)} })${raise}.`;
}

const latestOf = (obstacles: readonly Obstacle[]): string | null =>
  obstacles
    .flatMap(({ facts }) => (facts.kind === 'limit' ? (facts.until ?? []) : []))
    .toSorted()
    .at(-1) ?? null;

const newMessage = (
  text: string = 'send a new message',
  developerText: string = `${text}.`,
): ExplanationAction => ({ kind: 'new_message', text: `To continue, ${text}.`, developerText });

const askOperator = (grant: Grants): ExplanationAction => ({
  kind: 'ask_operator',
  text: 'To continue, ask an operator for more, or send a new message.',
  developerText: `the owner may grant no more: call runtime.resume(id, { owner, grant: ${grantCode(grant)} }) in server code, or raise the cap with the grants option.`,
});

/** What to do where no grant helps. */
function blockedActions({ facts, evaluation }: Obstacle): readonly ExplanationAction[] {
  const { criterion, remedy } = evaluation;
  const developerText = remedy?.text ?? 'send a new message.';
  switch (facts.kind) {
    case 'limit':
      return limitActions(facts, remedy?.option ?? null, developerText);
    case 'error':
      return errorActions(facts, developerText);
    case 'finish':
      return inOtherWords(developerText);
    case 'stop_request':
      return facts.source === 'deadline'
        ? [
            change(
              'withTimeout({ seconds })',
              'give the run that started it more time',
              developerText,
            ),
          ]
        : [newMessage('send a new message', developerText)];
    case 'broken':
    case 'hook':
      return [change(criterion, 'ask the operator to repair this assistant', developerText)];
    case 'runtime':
      if (facts.what === 'parked')
        return [{ kind: 'retry', text: 'To continue, retry it.', developerText }];
      return facts.what === 'shortened'
        ? [newMessage('send a new message', developerText)]
        : [change(null, 'ask the operator to remove the cause', developerText)];
    default:
      return [newMessage('send a new message', sentence(developerText))];
  }
}

const change = (option: string | null, text: string, developerText: string): ExplanationAction => ({
  kind: 'change',
  option,
  text: `To continue, ${text}.`,
  developerText,
});

function limitActions(
  { unit, scope, agent }: LimitFacts,
  option: string | null,
  developerText: string,
): readonly ExplanationAction[] {
  if (scope === 'session') return [change(option, 'start a new conversation', developerText)];
  if (agent !== undefined) return [change(option, `raise the limit of ${agent}`, developerText)];
  return unit === 'repeats'
    ? [newMessage('send a new message that says what to do instead', developerText)]
    : [newMessage('send a new message', developerText)];
}

const inOtherWords = (developerText: string): readonly ExplanationAction[] => [
  change('message', 'ask for something else, or in other words', developerText),
  newMessage(),
];

const operatorChanges: Readonly<Record<string, readonly [option: string, text: string]>> = {
  auth: ['apiKey', 'ask the operator to correct the API key'],
  quota: ['quota', 'ask the operator to raise the quota at the model provider'],
  not_found: ['withModel(...)', 'ask the operator to choose another model'],
};

function errorActions({ code }: ErrorFacts, developerText: string): readonly ExplanationAction[] {
  if (code === 'refusal') return inOtherWords(developerText);
  if (code === 'context_length')
    return [change('messages', 'start a new conversation', developerText)];
  const [option, text] = own(operatorChanges, code) ?? [
    null,
    'ask the operator to remove the cause',
  ];
  return [change(option, text, developerText)];
}
