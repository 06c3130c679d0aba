import { isoTime } from '../../clock.ts';
import type { CriterionContext } from '../criterion.ts';
import type { ContinuationEvaluation } from '../evaluation.ts';
import type { LimitFacts } from '../facts.ts';
import { isKnownLimit } from '../facts-of.ts';
import { smallestGrant } from '../limit-grant.ts';
import type { RunView } from '../run-view.ts';
import { OpenLimit } from '../with-facts.ts';
import type { LimitSpec } from './limit.ts';

/** Creates the evaluations of one limit that allow, and the facts of those that forbid. */
export class LimitFactsMaker {
  readonly #spec: LimitSpec;
  readonly #unit: LimitFacts['unit'];
  /** Whether facts can be derived from name and context, so that records omit them while no grant raises the limit. */
  readonly #isKnown: boolean;

  constructor(spec: LimitSpec) {
    const { name, scope = 'execution' } = spec;
    this.#spec = spec;
    this.#unit = unitOf(spec);
    this.#isKnown = isKnownLimit(name, { unit: this.#unit, scope });
  }

  /** Evaluation of a limit that is not used up. Every step stores one, so it holds as little as possible. */
  allow(
    reason: string,
    used: number | null,
    limit: number,
    granted: number,
  ): ContinuationEvaluation {
    const { name, max } = this.#spec;
    const context = { used, limit };
    if (this.#isKnown && granted === 0 && limit === max)
      return new OpenLimit(name, reason, context);
    const facts = this.#open(used, limit, granted);
    return { criterion: name, decision: 'allow', reason, context, facts };
  }

  /** Facts of a limit that is used up, with the size of the grant that it needs. */
  spent(
    used: number,
    limit: number,
    state: RunView,
    { grants, now, reserve }: CriterionContext,
    { waitMs = 0, landed = false }: { readonly waitMs?: number; readonly landed?: boolean } = {},
  ): LimitFacts {
    const { grant, unit, measure } = this.#spec;
    const facts = this.#open(used, limit, grant ? (grants[grant] ?? 0) : 0);
    // a limit that restarts with each resume owes nothing
    const owed = this.#spec.limit ? 0 : Math.max(0, used - limit);
    const kept = (reserve && this.#spec.reserve?.(reserve)) || 0;
    return {
      ...facts,
      owed,
      ...(grant && { grant, minimum: smallestGrant(this.#unit, owed, kept, state) }),
      ...(landed && { landed }),
      ...(waitMs > 0 && used < limit && { until: isoTime(now + waitMs) }),
      ...(measure === undefined && { counts: unit }),
    };
  }

  #open(used: number | null, limit: number, granted: number): LimitFacts {
    const { max, scope = 'execution' } = this.#spec;
    return { kind: 'limit', unit: this.#unit, scope, used, base: max, granted, limit };
  }
}

function unitOf({ measure, isTime, grant }: LimitSpec): LimitFacts['unit'] {
  if (measure !== undefined) return measure;
  if (isTime) return 'seconds';
  return grant === undefined || grant === 'retries' ? 'steps' : grant;
}
