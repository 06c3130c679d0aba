import { AgentError, show } from '../errors/agent-error.ts';
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

/** Refuses what could not extend a limit: unknown kinds, zero, negative and endless amounts. */
export function checkedGrant(grant: unknown): Grants {
  const expected = `amounts above 0 for ${grantKinds.join(', ')}`;
  if (!isRecord(grant) || Object.keys(grant).length === 0)
    throw new AgentError(
      'invalid_option',
      `resume() got grant ${show(grant)}, expected ${expected}.`,
    );
  for (const [kind, amount] of Object.entries(grant)) {
    const known = grantKinds.includes(kind as GrantKind);
    if (!known || typeof amount !== 'number' || !Number.isFinite(amount) || amount <= 0)
      throw new AgentError(
        'invalid_option',
        `resume() got grant { ${kind}: ${show(amount)} }, expected ${expected}.`,
      );
  }
  return grant;
}

export function addGrants(a: Grants, b: Grants): Grants {
  const sum: Partial<Record<GrantKind, number>> = { ...a };
  for (const kind of grantKinds) {
    const more = b[kind];
    if (more !== undefined) sum[kind] = (sum[kind] ?? 0) + more;
  }
  return Object.freeze(sum);
}
