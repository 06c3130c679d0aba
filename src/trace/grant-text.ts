import { grantKinds, type GrantKind, type Grants } from '../continuation/grants.ts';
import { countText, exactMoneyText } from './number-text.ts';

const counted =
  (one: string, many: string) =>
  (amount: number, more: string): string =>
    `${countText(amount)}${more} ${amount === 1 ? one : many}`;

const units: Readonly<Record<GrantKind, (amount: number, more: string) => string>> = {
  steps: counted('step', 'steps'),
  tokens: counted('token', 'tokens'),
  cost: (amount, more) => `${exactMoneyText(amount)}${more}`,
  seconds: counted('second', 'seconds'),
  retries: counted('retry', 'retries'),
};

/** "5 more steps and 20,000 more tokens". */
export const grantText = (grant: Grants, more: string = ''): string =>
  amountsOf(grant)
    .map(([kind, amount]) => units[kind](amount, more && ` ${more}`))
    .join(' and ');

/** "Grant 5 steps", "Grant 60 s": what a button says. */
export const grantLabel = (grant: Grants): string =>
  `Grant ${amountsOf(grant)
    .map(([kind, amount]) =>
      kind === 'seconds' ? `${countText(amount)} s` : units[kind](amount, ''),
    )
    .join(' and ')}`;

/** Goes after "it would go on if": "it had 5 more steps and could spend $0.05 more". */
export function ifGranted(grant: Grants): string {
  const { cost, ...rest } = grant;
  const parts: string[] = [];
  if (amountsOf(rest).length > 0) parts.push(`had ${grantText(rest, 'more')}`);
  if (cost !== undefined) parts.push(`could spend ${exactMoneyText(cost)} more`);
  return `it ${parts.join(' and ')}`;
}

const amountsOf = (grant: Grants): [GrantKind, number][] =>
  grantKinds.flatMap((kind) => {
    const amount = grant[kind];
    return amount === undefined ? [] : [[kind, amount]];
  });
