import { AgentError, isWhole, show } from '../errors/agent-error.ts';
import { isRecord } from '../json.ts';

/** Extra budget for one execution, added to its limits when a stopped run is resumed. */
export interface Grants {
  readonly steps?: number;
  readonly tokens?: number;
  readonly cost?: number;
  readonly seconds?: number;
  readonly retries?: number;
}

export type GrantKind = keyof Grants;

export const grantKinds: readonly GrantKind[] = ['steps', 'tokens', 'cost', 'seconds', 'retries'];

/** Kinds that take whole numbers only. */
export const wholeGrantKinds: ReadonlySet<string> = new Set<GrantKind>(['steps', 'retries']);

/** Largest amount: more than any run can use, and exact when grants add up. */
const MOST = Number.MAX_SAFE_INTEGER;

const isAmount = (kind: string, amount: unknown): boolean =>
  wholeGrantKinds.has(kind)
    ? isWhole(amount)
    : typeof amount === 'number' && amount > 0 && amount <= MOST;

/** Rejects unknown kinds, amounts that are not positive or not finite, and fractions of steps and retries. */
export function checkedGrant(grant: unknown): Grants {
  const expected = `amounts above 0 for ${grantKinds.join(', ')}`;
  if (!isRecord(grant) || Object.keys(grant).length === 0)
    throw new AgentError(
      'invalid_option',
      `resume() got grant ${show(grant)}, expected ${expected}.`,
    );
  for (const [kind, amount] of Object.entries(grant)) {
    const isKnown = grantKinds.some((known) => known === kind);
    if (isKnown && isAmount(kind, amount)) continue;
    const isNumber = typeof amount === 'number' && Number.isFinite(amount) && amount > 0;
    const range = wholeGrantKinds.has(kind) ? `a whole number of ${kind}` : `at most ${MOST}`;
    throw new AgentError(
      'invalid_option',
      `resume() got grant { ${kind}: ${show(amount)} }, expected ${isKnown && isNumber ? range : expected}.`,
    );
  }
  return grant;
}

export function addGrants(a: Grants, b: Grants): Grants {
  const sum: Partial<Record<GrantKind, number>> = { ...a };
  for (const kind of grantKinds) {
    const more = b[kind];
    if (more !== undefined) sum[kind] = Math.min(MOST, (sum[kind] ?? 0) + more);
  }
  return Object.freeze(sum);
}
