import { isoTime } from '../../clock.ts';
import type { CriterionContext } from '../criterion.ts';
import type { LimitFacts } from '../facts.ts';
import { smallestGrant } from '../limit-grant.ts';
import type { RunView } from '../run-view.ts';
import type { LimitSpec } from './limit.ts';

/** Makes the facts of one limit. */
export class LimitFactsMaker {
  readonly #spec: LimitSpec;
  readonly #unit: LimitFacts['unit'];

  constructor(spec: LimitSpec) {
    this.#spec = spec;
    this.#unit = unitOf(spec);
  }

  /** Of a limit that is not used up; every step keeps them, so they hold no more than the numbers. */
  open(used: number | null, limit: number, granted: number): LimitFacts {
    const { max, scope = 'execution' } = this.#spec;
    return { kind: 'limit', unit: this.#unit, scope, used, base: max, granted, limit };
  }

  /** Of a limit that is used up: also what a grant has to bring. */
  spent(
    used: number,
    limit: number,
    state: RunView,
    { grants, now, reserve }: CriterionContext,
    { waitMs = 0, landed = false }: { readonly waitMs?: number; readonly landed?: boolean } = {},
  ): LimitFacts {
    const { grant, unit, measure } = this.#spec;
    const facts = this.open(used, limit, grant ? (grants[grant] ?? 0) : 0);
    // where the limit starts anew with a resume, nothing is owed
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
}

function unitOf({ measure, isTime, grant }: LimitSpec): LimitFacts['unit'] {
  if (measure !== undefined) return measure;
  if (isTime) return 'seconds';
  return grant === undefined || grant === 'retries' ? 'steps' : grant;
}
