import { onDemand } from '../../on-demand.ts';
import { namedPolicies, policyNames, type PolicyName } from '../../replay/named-policies.ts';
import type { ReplayLimits, ReplayOptions } from '../../replay/replay-options.ts';
import type { SessionRuntime } from '../../sessions/session-runtime.ts';
import type { Fields, FieldsOf } from '../fields.ts';
import { route, type Route } from '../route.ts';
import { ref } from '../schemas/shapes.ts';
import { replayDetail, replaySummary } from '../replay-view.ts';
import { oneOf, wholeNumber, word } from './field-shapes.ts';

interface Changes extends Omit<ReplayLimits, 'maxSteps'> {
  readonly maxSteps?: number;
  readonly errorPolicy?: PolicyName;
}

interface OneReplayQuery extends Changes {
  readonly execution?: string;
}

interface ReplaysQuery extends Changes {
  readonly agent?: string;
  readonly limit?: number;
  readonly cursor?: string;
}

const amount = (expected: string): Fields[string] => ({
  schema: { type: 'number', exclusiveMinimum: 0, maximum: 1e12 },
  expected,
});

const changes: FieldsOf<Changes> = {
  maxSteps: wholeNumber(1, 1_000_000),
  maxTokens: amount('a number of tokens'),
  maxCost: amount('an amount of dollars'),
  seconds: amount('a number of seconds'),
  errorPolicy: oneOf(...policyNames),
};

/** Creates the routes that judge recorded runs again. */
export const replayRoutes = (runtime: SessionRuntime): readonly Route[] => [
  route<OneReplayQuery>({
    method: 'GET',
    path: '/sessions/{id}/replay',
    name: 'replaySession',
    summary: 'Judges a recorded run again with other limits, without a model.',
    query: { ...changes, execution: word('the id of a run; default: the newest') },
    answer: { status: 200, about: 'The replay.', schema: ref('Replay') },
    async handle({ owner, id, query: { execution, ...query } }) {
      const { replaySession } = await onDemand(import('../../replay/replay-session.ts'));
      const replay = await replaySession(runtime, id, {
        owner,
        ...optionsOf(query),
        ...(execution !== undefined && { executionId: execution }),
      });
      return replayDetail(replay);
    },
  }),
  route<ReplaysQuery>({
    method: 'GET',
    path: '/replays',
    name: 'replaySessions',
    summary: 'Judges the newest run of each of your ended sessions again, newest change first.',
    query: {
      ...changes,
      agent: word('the name of an agent'),
      limit: wholeNumber(1, 50),
      cursor: word('the cursor of the previous page', 1_000),
    },
    answer: { status: 200, about: 'A page of replays.', schema: ref('ReplayPage') },
    async handle({ owner, query: { agent, limit, cursor, ...query } }) {
      const { replaySessions } = await onDemand(import('../../replay/replay-session.ts'));
      const page = await replaySessions(runtime, {
        owner,
        ...optionsOf(query),
        ...(agent !== undefined && { agent }),
        ...(limit !== undefined && { limit }),
        ...(cursor !== undefined && { cursor }),
      });
      return { replays: page.replays.map(replaySummary), cursor: page.cursor };
    },
  }),
];

function optionsOf({ errorPolicy, ...limits }: Changes): ReplayOptions {
  return {
    ...(Object.keys(limits).length > 0 && { limits }),
    ...(errorPolicy && { errorPolicy: namedPolicies[errorPolicy]() }),
  };
}
